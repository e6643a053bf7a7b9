# The cluster's addresses, of one family or of both, and its network: a bridge, which the machine is
# on, and a namespace for each node. Sourced by up.sh.
# shellcheck shell=bash disable=SC2034,SC2154

# choose_family FAMILY: whatever has an address of each family is an array, the first family first.
choose_family() {
  case $1 in
    ipv4)
      host=(10.250.0.1) prefix=(24) node_base=(10.250.0.1) services=(10.96.0.0/24) dns=10.96.0.10
      pods=(10.244.0.0/16) pods_form=(10.244.%d.0/24) everywhere=(0.0.0.0/0)
      ;;
    ipv6)
      host=(fd00:250::1) prefix=(64) node_base=(fd00:250::1) services=(fd00:96::/112) dns=fd00:96::a
      pods=(fd00:244::/48) pods_form=(fd00:244:0:%d::/64) everywhere=(::/0)
      ;;
    dual)
      host=(10.250.0.1 fd00:250::1) prefix=(24 64) node_base=(10.250.0.1 fd00:250::1)
      services=(10.96.0.0/24 fd00:96::/112) dns=10.96.0.10
      pods=(10.244.0.0/16 fd00:244::/48) pods_form=(10.244.%d.0/24 fd00:244:0:%d::/64)
      everywhere=(0.0.0.0/0 ::/0)
      ;;
    *) die "up: there are the families ipv4, ipv6 and dual, not '$1'" ;;
  esac
}

joined() {
  local IFS=,
  echo "$*"
}

# How an address stands in a URL.
in_url() { [[ $1 == *:* ]] && echo "[$1]" || echo "$1"; }

number_of() { echo "${1#node}"; }

# addresses_of NODE
addresses_of() {
  local base
  for base in "${node_base[@]}"; do echo "$base$(number_of "$1")"; done
}

# pods_of NODE: the networks of its pods.
pods_of() {
  local form
  for form in "${pods_form[@]}"; do
    # shellcheck disable=SC2059
    printf "$form\n" "$(number_of "$1")"
  done
}

# An address that is to be used at once must not wait until it is known to be the only one.
add_address() { # NAMESPACE-OPTION... ADDRESS DEVICE
  local option=(nodad)
  [[ ${*: -2:1} == *:* ]] || option=()
  ip "${@:1:$#-2}" address add "${*: -2:1}" dev "${*: -1}" "${option[@]}"
}

make_network() {
  local node other space i
  ip link add rota0 type bridge
  # Nobody on this bridge makes loops, so a port may speak at once.
  ip link set rota0 type bridge stp_state 0 forward_delay 0
  for i in "${!host[@]}"; do add_address "${host[i]}/${prefix[i]}" rota0; done
  ip link set rota0 up

  for node in "${nodes[@]}"; do
    space=$(space_of "$node")
    ip netns add "$space"
    ip link add "rota-$node" type veth peer name eth0 netns "$space"
    ip link set "rota-$node" master rota0 up
    ip -n "$space" link set lo up
    for i in "${!host[@]}"; do
      add_address -n "$space" "$(addresses_of "$node" | sed -n $((i + 1))p)/${prefix[i]}" eth0
    done
    ip -n "$space" link set eth0 up
    for i in "${!host[@]}"; do
      ip -n "$space" route add "${everywhere[i]}" via "${host[i]}"
    done
    nsenter --net="/run/netns/$space" \
      sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
  done

  # Docker has a machine forward nothing but its own, which what crosses a bridge may have to obey.
  local program
  for program in iptables ip6tables; do
    $program -S FORWARD 2>/dev/null | grep -qxe '-P FORWARD DROP' || continue
    echo $program >>"$state/forwarded"
    $program -I FORWARD -i rota0 -o rota0 -j ACCEPT
  done

  # The machine reaches pods by their node, and so does a node those of another.
  for node in "${nodes[@]}"; do
    for i in "${!host[@]}"; do
      local route
      route=("$(pods_of "$node" | sed -n $((i + 1))p)" via "$(addresses_of "$node" | sed -n $((i + 1))p)")
      ip route add "${route[@]}"
      for other in "${nodes[@]}"; do
        [[ $other == "$node" ]] || ip -n "$(space_of "$other")" route add "${route[@]}"
      done
    done
  done
  # The API server calls webhooks by their Service: a proxy, which there is on a node only, knows it.
  for i in "${!host[@]}"; do
    ip route add "${services[i]}" via "$(addresses_of "${nodes[0]}" | sed -n $((i + 1))p)"
  done
}

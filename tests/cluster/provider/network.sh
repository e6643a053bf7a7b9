# Defines the cluster's addresses, of one family or both, and makes its network: a bridge to which
# this machine is connected, and a namespace for each node. up.sh includes this file.
# shellcheck shell=bash disable=SC2034,SC2154

# choose_family FAMILY sets the variables with addresses. If there is one address for each family,
# the variable is an array, with the main family first.
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

# Prints the form of an address in a URL.
in_url() { [[ $1 == *:* ]] && echo "[$1]" || echo "$1"; }

number_of() { echo "${1#node}"; }

# addresses_of NODE: prints the addresses of the node.
addresses_of() {
  local base
  for base in "${node_base[@]}"; do echo "$base$(number_of "$1")"; done
}

# pods_of NODE: prints the networks of the node's pods.
pods_of() {
  local form
  for form in "${pods_form[@]}"; do
    # shellcheck disable=SC2059
    printf "$form\n" "$(number_of "$1")"
  done
}

# With nodad, the address is usable immediately, without a check for duplicates.
add_address() { # NAMESPACE-OPTION... ADDRESS DEVICE
  local option=(nodad)
  [[ ${*: -2:1} == *:* ]] || option=()
  ip "${@:1:$#-2}" address add "${*: -2:1}" dev "${*: -1}" "${option[@]}"
}

make_network() {
  local node other space i
  ip link add rota0 type bridge
  # This bridge has no loops, so a port may forward immediately.
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

  # Docker makes a machine forward only Docker's own packets. Packets across a bridge may be subject
  # to that rule too.
  local program
  for program in iptables ip6tables; do
    $program -S FORWARD 2>/dev/null | grep -qxe '-P FORWARD DROP' || continue
    echo $program >>"$state/forwarded"
    $program -I FORWARD -i rota0 -o rota0 -j ACCEPT
  done

  # The machine reaches pods through their node, and a node reaches another node's pods in the same
  # way.
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
  # The API server calls webhooks by their Service. Only a node has a proxy that knows the Service.
  for i in "${!host[@]}"; do
    ip route add "${services[i]}" via "$(addresses_of "${nodes[0]}" | sed -n $((i + 1))p)"
  done
}

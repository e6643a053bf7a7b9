// Package policies enforces NetworkPolicies on the node whose network it runs in, as the network
// plugins of real clusters do: what is forwarded to a pod that a policy selects, or comes from one, has
// to be allowed by one. It knows selectors of pods and ports by number, and ends where a policy has more.
package policies

import (
	"bytes"
	"fmt"
	"os/exec"

	"github.com/spf13/cobra"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const ingress, egress = "ROTA-INGRESS", "ROTA-EGRESS"

// NewCommand is `rota-policies KUBECONFIG`, which runs until it is killed.
func NewCommand() *cobra.Command {
	return &cobra.Command{Use: "rota-policies KUBECONFIG", Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error { return run(command, arguments[0]) }}
}

func run(command *cobra.Command, file string) error {
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods, policies := factory.Core().V1().Pods(), factory.Networking().V1().NetworkPolicies()
	changes := make(chan struct{}, 1)
	note := func() {
		select {
		case changes <- struct{}{}:
		default: // One that nobody has looked at yet is enough.
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { note() },
		UpdateFunc: func(any, any) { note() }, DeleteFunc: func(any) { note() }}
	for _, informer := range []cache.SharedIndexInformer{pods.Informer(), policies.Informer()} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	factory.Start(command.Context().Done())
	factory.WaitForCacheSync(command.Context().Done())
	for range changes {
		all, err := policies.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		if err := enforce(all, pods.Lister()); err != nil {
			return err
		}
	}
	return nil
}

// A table of rules, one for each family of addresses.
type table struct {
	program  string
	isFamily func(ip string) bool
	rules    bytes.Buffer
}

func isIPv6(ip string) bool { return bytes.ContainsRune([]byte(ip), ':') }

func enforce(all []*networking.NetworkPolicy, pods listers.PodLister) error {
	tables := []*table{{program: "iptables", isFamily: func(ip string) bool { return !isIPv6(ip) }},
		{program: "ip6tables", isFamily: isIPv6}}
	for _, table := range tables {
		if err := table.write(all, pods); err != nil {
			return err
		}
		if err := table.load(); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) write(all []*networking.NetworkPolicy, pods listers.PodLister) error {
	fmt.Fprintf(&t.rules, "*filter\n:%s - [0:0]\n:%s - [0:0]\n", ingress, egress)
	for _, chain := range []string{ingress, egress} {
		fmt.Fprintf(&t.rules, "-A %s -m conntrack --ctstate ESTABLISHED,RELATED -j RETURN\n", chain)
	}
	drops := bytes.Buffer{} // Behind all that is allowed by any policy.
	for _, policy := range all {
		own, err := t.addresses(pods, policy.Namespace, &policy.Spec.PodSelector)
		if err != nil {
			return err
		}
		for _, direction := range policy.Spec.PolicyTypes {
			chain, side, rules := ingress, "-d", rulesOfIngress(policy)
			if direction == networking.PolicyTypeEgress {
				chain, side, rules = egress, "-s", rulesOfEgress(policy)
			}
			for _, address := range own {
				if err := t.allow(fmt.Sprintf("-A %s %s %s", chain, side, address), side, rules, pods, policy); err != nil {
					return err
				}
				fmt.Fprintf(&drops, "-A %s %s %s -j DROP\n", chain, side, address)
			}
		}
	}
	t.rules.Write(drops.Bytes())
	t.rules.WriteString("COMMIT\n")
	return nil
}

// What ingress and egress have in common.
type rule struct {
	peers []networking.NetworkPolicyPeer
	ports []networking.NetworkPolicyPort
}

func rulesOfIngress(policy *networking.NetworkPolicy) (rules []rule) {
	for _, each := range policy.Spec.Ingress {
		rules = append(rules, rule{each.From, each.Ports})
	}
	return rules
}

func rulesOfEgress(policy *networking.NetworkPolicy) (rules []rule) {
	for _, each := range policy.Spec.Egress {
		rules = append(rules, rule{each.To, each.Ports})
	}
	return rules
}

func (t *table) allow(begin, side string, rules []rule, pods listers.PodLister, policy *networking.NetworkPolicy) error {
	other := map[string]string{"-d": "-s", "-s": "-d"}[side]
	for _, each := range rules {
		peers := []string{""} // Anybody.
		if len(each.peers) > 0 {
			peers = nil
		}
		for _, peer := range each.peers {
			if peer.PodSelector == nil || peer.NamespaceSelector != nil || peer.IPBlock != nil {
				return fmt.Errorf("policy %s/%s: only podSelector is known of a peer", policy.Namespace, policy.Name)
			}
			addresses, err := t.addresses(pods, policy.Namespace, peer.PodSelector)
			if err != nil {
				return err
			}
			for _, address := range addresses {
				peers = append(peers, " "+other+" "+address)
			}
		}
		matches, err := matchesOf(each.ports)
		if err != nil {
			return fmt.Errorf("policy %s/%s: %w", policy.Namespace, policy.Name, err)
		}
		for _, match := range matches {
			for _, peer := range peers {
				fmt.Fprintf(&t.rules, "%s%s%s -j RETURN\n", begin, peer, match)
			}
		}
	}
	return nil
}

func matchesOf(ports []networking.NetworkPolicyPort) ([]string, error) {
	if len(ports) == 0 {
		return []string{""}, nil // All of them.
	}
	var matches []string
	for _, port := range ports {
		if port.Port == nil || port.Port.IntValue() == 0 || port.Protocol == nil {
			return nil, fmt.Errorf("only ports by number are known, with their protocol")
		}
		protocol := map[core.Protocol]string{core.ProtocolTCP: "tcp", core.ProtocolUDP: "udp"}[*port.Protocol]
		if protocol == "" {
			return nil, fmt.Errorf("protocol %s is not known", *port.Protocol)
		}
		last := int32(port.Port.IntValue())
		if port.EndPort != nil {
			last = *port.EndPort
		}
		matches = append(matches, fmt.Sprintf(" -p %s --dport %d:%d", protocol, port.Port.IntValue(), last))
	}
	return matches, nil
}

// Of the pods that the selector selects, as far as they have one of this family, and one of their own.
func (t *table) addresses(pods listers.PodLister, namespace string, of *meta.LabelSelector) ([]string, error) {
	selector, err := meta.LabelSelectorAsSelector(of)
	if err != nil {
		return nil, err
	}
	selected, err := pods.Pods(namespace).List(selector)
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, pod := range selected {
		over := pod.Status.Phase == core.PodSucceeded || pod.Status.Phase == core.PodFailed
		if over || pod.Spec.HostNetwork { // Its address may be another's by now, or is the node's.
			continue
		}
		for _, ip := range pod.Status.PodIPs {
			if t.isFamily(ip.IP) {
				addresses = append(addresses, ip.IP)
			}
		}
	}
	return addresses, nil
}

// Puts the rules in the place of those before, all at once.
func (t *table) load() error {
	restore := exec.Command(t.program+"-restore", "--noflush", "--wait")
	restore.Stdin = &t.rules
	if said, err := restore.CombinedOutput(); err != nil {
		return fmt.Errorf("%s-restore: %w: %s", t.program, err, said)
	}
	for _, chain := range []string{ingress, egress} {
		if exec.Command(t.program, "--wait", "-C", "FORWARD", "-j", chain).Run() == nil {
			continue
		}
		if said, err := exec.Command(t.program, "--wait", "-I", "FORWARD", "-j", chain).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", t.program, err, said)
		}
	}
	return nil
}

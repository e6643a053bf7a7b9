// kube is the API server, the controllers, the scheduler, the kubelet, the proxy, kubectl and what
// enforces NetworkPolicies in one program, which of them by the name that it is called by: apart they
// would be linked seven times.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
	"rota/tests/cluster/provider/policies"
)

func commandOf(name string) *cobra.Command {
	switch name {
	case "kube-apiserver":
		return apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		return controllers.NewControllerManagerCommand()
	case "kube-scheduler":
		return scheduler.NewSchedulerCommand()
	case "kubelet":
		return kubelet.NewKubeletCommand(context.Background())
	case "kube-proxy":
		return proxy.NewProxyCommand()
	case "kubectl":
		return kubectl.NewDefaultKubectlCommand()
	case "rota-policies":
		return policies.NewCommand()
	}
	return nil
}

func main() {
	name := filepath.Base(os.Args[0])
	command := commandOf(name)
	if command == nil {
		fmt.Fprintf(os.Stderr, "kube: nothing here is called %s\n", name)
		os.Exit(2)
	}
	os.Exit(cli.Run(command))
}

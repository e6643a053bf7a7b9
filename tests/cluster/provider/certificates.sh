# Makes the cluster's own certificate authority, its certificates, and a kubeconfig for each client.
# up.sh includes this file.
# shellcheck shell=bash disable=SC2154

pki=$state/pki

# certify EXTENSIONS OPTION...
certify() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -extensions v3 \
    -config <(printf '[req]\ndistinguished_name=dn\n[dn]\n[v3]\n%b' "$1") "${@:2}" 2>"$state/log/openssl.log"
}

# certificate FILE NAME GROUP [ADDRESSES]
certificate() {
  certify "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n\
extendedKeyUsage=serverAuth,clientAuth\nsubjectAltName=${4:-DNS:client}\n" \
    -subj "/O=$3/CN=$2" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -keyout "$pki/$1.key" -out "$pki/$1.crt"
}

# kubeconfig FILE NAME GROUP
kubeconfig() {
  certificate "$1" "$2" "$3"
  cat >"$pki/$1.conf" <<Y
apiVersion: v1
kind: Config
clusters:
- name: rota
  cluster: {server: "https://$(in_url "${host[0]}"):6443", certificate-authority: $pki/ca.crt}
users:
- name: me
  user: {client-certificate: $pki/$1.crt, client-key: $pki/$1.key}
contexts:
- name: rota
  context: {cluster: rota, user: me}
current-context: rota
Y
}

certify 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,cRLSign,keyCertSign\nsubjectKeyIdentifier=hash\n' \
  -subj /CN=rota-cluster -keyout "$pki/ca.key" -out "$pki/ca.crt"
names=DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc
names+=,DNS:kubernetes.default.svc.cluster.local,IP:127.0.0.1
for address in "${host[@]}"; do names+=,IP:$address; done
# The API server's Service has the first address of the service network.
for network in "${services[@]}"; do
  address=${network%/*}
  [[ $address == *: ]] && names+=,IP:${address}1 || names+=,IP:${address%.0}.1
done
certificate apiserver kube-apiserver rota "$names"
certificate apiserver-kubelet apiserver-kubelet system:masters
kubeconfig admin admin system:masters
kubeconfig controllers system:kube-controller-manager rota
kubeconfig scheduler system:kube-scheduler rota
kubeconfig proxy system:kube-proxy rota
for node in "${nodes[@]}"; do kubeconfig "$node" "system:node:$node" system:nodes; done
openssl ecparam -name prime256v1 -genkey -noout -out "$pki/accounts.key"
openssl ec -in "$pki/accounts.key" -pubout -out "$pki/accounts.pub" 2>>"$state/log/openssl.log"

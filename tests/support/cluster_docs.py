"""A small corpus about running containers, for the specification's example of families.

A question about the identity of a workload needs three kinds of evidence: Secrets, service
accounts and RBAC. Six pages tell of Secrets, in the words of the question, and one of service
accounts, in words of its own, so that it does not get among the best by itself.
"""

QUESTION = (
    "How does a Pod authenticate with credentials, and how do I keep a workload to the "
    "permissions that it needs?"
)

SECRET, SERVICE_ACCOUNT, RBAC = "Secret", "ServiceAccount", "RBAC"

SERVICE_ACCOUNT_PATH = "concepts/service-account.md"

FAMILY_OF_PATH = {
    "concepts/secret.md": SECRET,
    "tasks/secret-environment.md": SECRET,
    "tasks/secret-volume.md": SECRET,
    "tasks/secret-rotation.md": SECRET,
    "tasks/secret-registry.md": SECRET,
    "blog/secret-tips.md": SECRET,
    SERVICE_ACCOUNT_PATH: SERVICE_ACCOUNT,
    "concepts/rbac.md": RBAC,
    "tasks/rbac-review.md": RBAC,
}

PLAN = """\
name: workload-identity
when:
  - [pod, workload, container]
  - [credentials, identity, authenticate, "service account"]
families:
  - name: Secret
    match: {source: "**/secret*.md"}
    rescue: Kubernetes Secret credentials Pod
    authority: official
  - name: ServiceAccount
    match: {heading: [service account, service accounts]}
    rescue: Pod ServiceAccount workload identity
  - name: RBAC
    match: {evidence_family: access-control}
    rescue: RBAC least privilege RoleBinding
"""


def _page(title: str, body: str, *, tier: str = "official", family: str = "") -> str:
    metadata = f"authority_tier: {tier}\nversion: '1.31'\n"
    if family:
        metadata += f"evidence_family: {family}\n"
    return f"---\n{metadata}---\n# {title}\n\n{body}\n"


CLUSTER_DOCS = {
    "concepts/secret.md": _page(
        "Secrets",
        "A Secret holds the credentials that a Pod needs: a password, a token or a key. A "
        "workload that must authenticate reads its credentials from the Secret, so that they do "
        "not stand in the image.\n\n## Limits\n\nA Secret is one megabyte at most. Who may read "
        "a Secret can authenticate with the credentials in it.",
        family="credentials",
    ),
    "tasks/secret-environment.md": _page(
        "Credentials as environment variables",
        "A Pod that has to authenticate can take its credentials from variables. Name the Secret "
        "under `envFrom`, and each key of the credentials becomes a variable of the workload.",
        family="credentials",
    ),
    "tasks/secret-volume.md": _page(
        "Credentials as files",
        "Mount a Secret as a volume, and the Pod finds its credentials as files. The workload "
        "can authenticate with new credentials without a restart, since the files follow.",
        family="credentials",
    ),
    "tasks/secret-rotation.md": _page(
        "Rotate credentials",
        "Write the new credentials beside the old, let every Pod authenticate with the new, then "
        "remove the old credentials from the Secret. A workload needs both for a while.",
        family="credentials",
    ),
    "tasks/secret-registry.md": _page(
        "Credentials of a registry",
        "A Pod whose image is private needs credentials to authenticate at the registry. Keep "
        "the credentials in a Secret and name it under `imagePullSecrets` of the workload.",
        family="credentials",
    ),
    "blog/secret-tips.md": _page(
        "Ten tips for credentials",
        "Never print the credentials of a Pod. Keep the permissions of each workload small, let "
        "it authenticate with credentials of its own, and give it what it needs.",
        tier="community",
        family="credentials",
    ),
    SERVICE_ACCOUNT_PATH: _page(
        "Service accounts",
        "A ServiceAccount is the identity under which processes talk to the API server. The "
        "kubelet projects a short-lived token for it, which the API server verifies.\n\n"
        "## Automatic mounting\n\nSet `automountServiceAccountToken: false` where none is used.",
    ),
    "concepts/rbac.md": _page(
        "Roles and bindings",
        "RBAC grants by role: a Role lists permissions, and a RoleBinding grants these permissions "
        "to a workload or a person. Grant the permissions that a workload needs and no more: "
        "least privilege.",
        family="access-control",
    ),
    "tasks/rbac-review.md": _page(
        "Review permissions",
        "List the permissions of a workload with `kubectl auth can-i --list`. Remove permissions "
        "that the workload does not need.",
        family="access-control",
    ),
    "concepts/scheduling.md": _page(
        "Scheduling",
        "The scheduler places each Pod on a node that has room for what the Pod requests. Taints "
        "keep a Pod away from a node, and affinities draw it to one.",
    ),
    "concepts/storage.md": _page(
        "Volumes",
        "A volume outlives the containers of its Pod. A claim asks for storage of a class, and "
        "the provisioner creates the volume that the claim is bound to.",
    ),
    "concepts/networking.md": _page(
        "Services",
        "A Service gives a set of Pods one address. Endpoints follow the Pods as they come and "
        "go, and the proxy on each node spreads the connections.",
    ),
    "tasks/autoscaling.md": _page(
        "Scale by load",
        "The autoscaler adds replicas when the processor is busy and takes them away when it is "
        "idle. Give each container a request, or the load cannot be told.",
    ),
    "tasks/probes.md": _page(
        "Probes",
        "A liveness probe restarts a container that hangs. A readiness probe keeps traffic away "
        "until the container can answer.",
    ),
}

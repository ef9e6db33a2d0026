"""What the programs of a suite's images answer over TLS, where the simulated node has no such image to run."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from shared.adapters.kube import KubeClient
from shared.api.manifest import namespace_of, uid_of
from shared.kinds import SECRET

Json: TypeAlias = Any
Answer: TypeAlias = Callable[[str, Json], Json]
"""The document for a path and the body of a request; None where there is none."""


@dataclass
class Programs:
    """The servers that run in place of containers, each at a port of the loopback."""

    cluster: KubeClient
    folder: Path
    servers: dict[tuple[str, int], _Server] = field(default_factory=dict)

    def port(self, pod: Json, port: int) -> int:
        """Where the program behind a port of a Pod answers; 0 when its image is not known."""
        container = next((each for each in pod["spec"]["containers"] if port in _ports(each)), None)
        made = ANSWERS.get(container["image"].rpartition("/")[2].partition(":")[0]) if container else None
        if made is None or container is None:
            return 0
        key = (uid_of(pod), port)
        if key not in self.servers:
            self.servers[key] = _Server.start(made(container.get("args") or []))
        pair = self._pair(pod)
        if pair:
            self.servers[key].take(*pair, self.folder)
        return self.servers[key].port if pair else 0

    def close(self) -> None:
        """End every server."""
        for server in self.servers.values():
            server.http.shutdown()

    def _pair(self, pod: Json) -> tuple[bytes, bytes] | None:
        """Certificate and key in a Secret that the Pod mounts."""
        for volume in pod["spec"].get("volumes") or ():
            name = (volume.get("secret") or {}).get("secretName")
            data = (self.cluster.get(SECRET.ref(name, namespace_of(pod))) or {}).get("data", {}) if name else {}
            if "tls.crt" in data:
                return base64.b64decode(data["tls.crt"]), base64.b64decode(data["tls.key"])
        return None


@dataclass
class _Server:
    http: ThreadingHTTPServer
    context: ssl.SSLContext
    taken: bytes = b""

    @classmethod
    def start(cls, answer: Answer) -> _Server:
        """Listen at a free port."""
        http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"answer": staticmethod(answer)}))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        http.socket = context.wrap_socket(http.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=http.serve_forever, daemon=True).start()
        return cls(http, context)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.http.server_address[1])

    def take(self, certificate: bytes, key: bytes, folder: Path) -> None:
        """Prove itself with this certificate from now on."""
        if self.taken != certificate:
            pair = folder / f"pair-{self.port}.pem"
            pair.write_bytes(certificate + b"\n" + key)
            self.context.load_cert_chain(pair)
            self.taken = certificate


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answer: Answer

    def do_GET(self) -> None:
        self._reply(type(self).answer(self.path.partition("?")[0], None))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self._reply(type(self).answer(self.path.partition("?")[0], body))

    def _reply(self, document: Json) -> None:
        body = json.dumps(document or {"kind": "Status", "apiVersion": "v1", "code": 404}).encode()
        self.send_response(200 if document else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: every request of the API server's discovery would be told."""


def _ports(container: Json) -> Iterator[int]:
    return (int(each["containerPort"]) for each in container.get("ports") or ())


def extension_server(arguments: list[str]) -> Answer:
    """An aggregated API with the group, version and kinds of its arguments, and no objects."""
    options = dict(pairwise(arguments))
    version, kinds = options["--mock-group-version"], options["--mock-kinds"].split(",")
    resources = [
        {"name": f"{kind.lower()}s", "singularName": kind.lower(), "kind": kind, "namespaced": True, "verbs": ["list"]}
        for kind in kinds
    ]
    root = f"/apis/{version}"
    known: Mapping[str, Json] = {
        root: {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources},
        **{
            f"{root}/{each['name']}": {
                "kind": f"{each['kind']}List", "apiVersion": version, "metadata": {}, "items": []
            }
            for each in resources
        },
    }  # fmt: skip
    return lambda path, _: known.get(path)


def webhook_operator(_: list[str]) -> Answer:
    """Webhooks of WebhookTests: `valid` must be true, `mutate` becomes true, v2 keeps both in `conversion`.

    That of Pods adds a container to those that ask for it.
    """

    def answer(path: str, review: Json) -> Json:
        if path not in WEBHOOKS or review is None:
            return None
        request = review["request"]
        response = {"uid": request["uid"], **WEBHOOKS[path](request)}
        return {"kind": review["kind"], "apiVersion": review["apiVersion"], "response": response}

    return answer


def _validate(request: Json) -> Json:
    if request["object"].get("spec", {}).get("valid"):
        return {"allowed": True}
    name = request["object"]["metadata"]["name"]
    fault = "spec.valid: Invalid value: false: Spec.Valid must be true"
    message = f'WebhookTest.webhook.operators.coreos.io "{name}" is invalid: {fault}'
    return {"allowed": False, "status": {"code": 422, "message": message}}


def _mutate(request: Json) -> Json:
    spec = {**request["object"].get("spec", {}), "mutate": True}
    patch = json.dumps([{"op": "add", "path": "/spec", "value": spec}]).encode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": base64.b64encode(patch).decode()}


def _convert(request: Json) -> Json:
    desired = request["desiredAPIVersion"]
    found = []
    for each in request["objects"]:
        spec = each.get("spec", {})
        spec = {"conversion": spec} if desired.endswith("v2") else spec.get("conversion", {})
        found.append({**each, "apiVersion": desired, "spec": spec})
    return {"result": {"status": "Success"}, "convertedObjects": found}


def _inject(request: Json) -> Json:
    if "telegraf.influxdata.com/class" not in (request["object"]["metadata"].get("annotations") or {}):
        return {"allowed": True}
    containers = [*request["object"]["spec"]["containers"], {"name": "telegraf", "image": "telegraf"}]
    patch = json.dumps([{"op": "add", "path": "/spec/containers", "value": containers}]).encode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": base64.b64encode(patch).decode()}


OF_V1 = "webhook-operators-coreos-io-v1-webhooktest"
WEBHOOKS: Mapping[str, Callable[[Json], Json]] = {
    "/validate": _validate, "/mutate": _mutate, "/convert": _convert, f"/validate-{OF_V1}": _validate,
    f"/mutate-{OF_V1}": _mutate, "/mutate-pod": _inject,
}  # fmt: skip
ANSWERS: Mapping[str, Callable[[list[str]], Answer]] = {
    "mock-extension-apiserver": extension_server, "webhook-operator": webhook_operator,
    "telegraf-operator": webhook_operator,
}  # fmt: skip
"""By the name of the image."""

"""A client of the HTTP API of `ackclock impair`: TCP proxies with a simulated lossy link inside.

One file, without dependencies: copy it, or put its directory on the path. Python 3.9 or later.

    from ackclock_impair import Impair

    with Impair.start() as impair:                      # runs `ackclock-impair --api`
        proxy = impair.create("web", upstream="127.0.0.1:8000")
        with proxy.condition(loss="2%", delay="40ms"):  # for connections that are open, too
            fetch(proxy.address)                        # a pair, as of socket.create_connection
        with proxy.condition(direction="down", rate="1mbit") as slow:
            fetch(proxy.address)
            slow.update(rate="100kbit")
        with proxy.down():                              # connections are reset, none is taken
            ...

A condition has the settings of the command: `rate="10mbit"`, `delay="20ms"`, `jitter="5ms"`,
`loss="1%"` (or 0.01), `burst=4`, `reorder="1%:20ms"`, `queue=100`. Beside these: `direction` ("up"
for what clients send, "down" for what the server sends, "both"), `toxicity="30%"` (the share of
connections for which it holds), `reset_after="2s"` (how long after its beginning a connection is
reset), `seed`, `name`, and `scenario` (the text of a scenario) with `client` and `server`. What is
wrong raises `ImpairError`, which names the setting.
"""
import contextlib
import http.client
import json
import os
import re
import shlex
import shutil
import subprocess
import threading
import urllib.parse

__all__ = ["Condition", "Impair", "ImpairError", "Proxy"]


class ImpairError(Exception):
    """The API refused a request, or the command did not start.

    `status` is 400 for what is wrong, 404 for what is not there, 409 for a name or an address that
    is taken and where there is no room for more, 503 if the system has no more open files; None if
    there was no answer of the API. The guide has all of them.
    """

    def __init__(self, message, status=None):
        super().__init__(message)
        self.status = status


class Impair:
    """The API of a running command: `Impair("http://127.0.0.1:8474")`.

    `timeout` is how many seconds an answer may take.
    """

    def __init__(self, url="http://127.0.0.1:8474", timeout=30):
        parts = urllib.parse.urlsplit(url if "//" in url else "//" + url)
        if parts.hostname is None:
            raise ValueError(f"{url} is no address; write for example http://127.0.0.1:8474")
        self._host, self._port = parts.hostname, parts.port or 8474
        self._timeout = timeout

    @classmethod
    @contextlib.contextmanager
    def start(cls, *options, command=None):
        """Runs the command with an API on a free port of 127.0.0.1, until the block ends.

        `options` are further options, such as "--seed", "7". `command` is a list such as
        ["ackclock", "impair"]; by default it is what ACKCLOCK_IMPAIR in the environment says, or
        `ackclock-impair` or `ackclock impair` on the path.
        """
        command = [*(command or _command()), "--api", "127.0.0.1:0", *options]
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                       stdout=subprocess.DEVNULL, text=True)
        except OSError as error:
            raise ImpairError(f"{command[0]} does not run: {error}") from error
        try:
            said = []
            for line in process.stderr:
                said.append(line)
                found = re.search(r"the API is at (http://\S+);", line)
                if found:
                    break
            else:
                process.stderr.close()
                raise ImpairError(f"{' '.join(command)} has ended: {''.join(said).strip()}")
            # Nothing that it says later may fill the pipe.
            threading.Thread(target=_drain, args=(process.stderr,), daemon=True).start()
            yield cls(found[1])
        finally:
            _end(process)

    def version(self):
        """The version of the command."""
        return self._request("GET", "/version")["version"]

    def proxies(self):
        """All proxies, by name."""
        states = self._request("GET", "/proxies")
        return {name: Proxy(self, state) for name, state in states.items()}

    def proxy(self, name):
        """The proxy of this name."""
        return Proxy(self, self._request("GET", _path("proxies", name)))

    def create(self, name, upstream, listen="127.0.0.1:0", **settings):
        """Makes a proxy that listens at an address, port 0 for a free one, and forwards to another.

        `settings` may be `enabled`, `seed` and `conditions`, a list of dictionaries.
        """
        new = {"name": name, "upstream": upstream, "listen": listen, **settings}
        return Proxy(self, self._request("POST", "/proxies", new))

    def populate(self, proxies):
        """Makes each of these proxies, given as dictionaries as for `create`.

        One that is there and was made just so stays, at its port. What was changed of it since
        comes back: whether it is enabled, its server, its conditions. Another one of its name is
        replaced.
        """
        made = self._request("POST", "/populate", list(proxies))["proxies"]
        return [Proxy(self, state) for state in made]

    def reset(self):
        """Enables all proxies, with the conditions with which they were made.

        Random numbers begin anew, so that what comes next meets the same losses as the last time.
        """
        self._request("POST", "/reset")

    def metrics(self):
        """What all proxies count, in the text format of Prometheus."""
        return self._ask("GET", "/metrics").decode()

    def _request(self, method, path, body=None):
        """The answer, which is JSON; None for an empty one."""
        data = self._ask(method, path, body)
        try:
            return json.loads(data) if data else None
        except ValueError as error:
            raise ImpairError(f"{method} {path}: the answer is no JSON: {error}") from error

    def _ask(self, method, path, body=None):
        """The bytes of the answer, unless it is an error."""
        connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException) as error:
            where = f"http://{self._host}:{self._port}"
            raise ImpairError(f"no answer of the API at {where}: {error}") from error
        finally:
            connection.close()
        if answer.status >= 400:
            raise ImpairError(_error(data) or f"{method} {path}: {answer.reason}", answer.status)
        return data


class Proxy:
    """A proxy. As a context manager, it is removed at the end of the block.

    `state` has what the API last said of it: addresses, conditions, connections, bytes, and packets
    with those that were `lost`; `dropped` says how many each condition has dropped.
    """

    def __init__(self, impair, state):
        self._impair = impair
        self.state = state

    def __repr__(self):
        return f"Proxy({self.name!r}, listen={self.state['listen']!r})"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with _unless_gone():
            self.remove()

    @property
    def name(self):
        """Its name."""
        return self.state["name"]

    @property
    def address(self):
        """Where it listens: a pair of host and port."""
        host, _, port = self.state["listen"].rpartition(":")
        return host.strip("[]"), int(port)

    @property
    def enabled(self):
        """Whether it takes connections, as the API last said."""
        return self.state["enabled"]

    def refresh(self):
        """Asks for its state, and returns the proxy."""
        return self._keep(self._impair._request("GET", self._path()))

    def update(self, **changes):
        """Changes `listen`, `upstream` or `enabled`. Its connections are reset."""
        return self._keep(self._impair._request("POST", self._path(), changes))

    def enable(self):
        """Takes connections again."""
        return self.update(enabled=True)

    def disable(self):
        """Resets all connections, and takes none."""
        return self.update(enabled=False)

    @contextlib.contextmanager
    def down(self):
        """Disabled within the block."""
        self.disable()
        try:
            yield self
        finally:
            self.enable()

    def remove(self):
        """Removes it. Its connections are reset."""
        self._impair._request("DELETE", self._path())

    def conditions(self):
        """Its conditions, in order."""
        states = self._impair._request("GET", self._path("conditions"))
        return [Condition(self, state, holds=True) for state in states]

    def condition(self, **settings):
        """A condition that holds within a `with` block."""
        return Condition(self, settings)

    def add(self, **settings):
        """Adds a condition, which holds until it is removed."""
        return self.condition(**settings).add()

    def _keep(self, state):
        self.state = state
        return self

    def _path(self, *rest):
        return _path("proxies", self.name, *rest)


class Condition:
    """A condition of a proxy. As a context manager, it holds within the block.

    `state` has its settings; once it holds, with its name and its seed. It holds once at a time.
    """

    def __init__(self, proxy, state, holds=False):
        self._proxy = proxy
        self._holds = holds
        self._settings = state
        self.state = state

    def __repr__(self):
        return f"Condition({self.state!r})"

    def __enter__(self):
        return self.add()

    def __exit__(self, *_):
        with _unless_gone():
            self.remove()

    @property
    def name(self):
        """Its name; None before it has one."""
        return self.state.get("name")

    def add(self):
        """Has it hold from now on."""
        if self._holds and self._is_there():
            raise ImpairError("it holds already; make another one with `proxy.condition`")
        path = self._proxy._path("conditions")
        self.state = self._proxy._impair._request("POST", path, self._settings)
        self._holds = True
        return self

    def _is_there(self):
        """Whether neither `reset` nor anybody else has removed it."""
        with _unless_gone():
            self._proxy._impair._request("GET", self._path())
            return True
        return False

    def update(self, **changes):
        """Changes these settings; None removes one."""
        self.state = self._proxy._impair._request("PATCH", self._path(), changes)
        return self

    def remove(self):
        """Removes it."""
        self._holds = False
        self._proxy._impair._request("DELETE", self._path())

    def _path(self):
        return self._proxy._path("conditions", self.name or "")


def _error(data):
    """What the API says is wrong; None of another server."""
    try:
        value = json.loads(data)
    except ValueError:
        return None
    return value.get("error") if isinstance(value, dict) else None


def _end(process):
    """Ends the command: what is open may finish for a second."""
    # The second signal ends it at once; a wrapper passes both on.
    for end in (process.terminate, process.terminate, process.kill):
        end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)
            return
    process.wait()


def _drain(stream):
    with stream:
        stream.read()


@contextlib.contextmanager
def _unless_gone():
    """What is removed at the end of a block may have been removed before."""
    try:
        yield
    except ImpairError as error:
        if error.status != 404:
            raise


def _path(*parts):
    if not all(parts):
        # It would be the path of all of them.
        raise ImpairError("name: it is empty; a condition has one once it holds", 400)
    return "/" + "/".join(urllib.parse.quote(part, safe="") for part in parts)


def _command():
    if "ACKCLOCK_IMPAIR" in os.environ:
        # On Windows a backslash is a part of a path, and quotes stay where they were.
        posix = os.name != "nt"
        words = shlex.split(os.environ["ACKCLOCK_IMPAIR"], posix=posix)
        return words if posix else [word.strip('"') for word in words]
    if shutil.which("ackclock-impair"):
        return ["ackclock-impair"]
    return ["ackclock", "impair"]

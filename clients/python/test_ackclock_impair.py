"""Tests of the client with the command that ACKCLOCK_IMPAIR in the environment names."""
import contextlib
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time
import unittest
from unittest import mock

import ackclock_impair
from ackclock_impair import Impair, ImpairError


def serve():
    """A server that sends back what it gets. Returns its address as a text."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]

    def echo(client):
        with client, contextlib.suppress(ConnectionResetError):
            while data := client.recv(65536):
                client.sendall(data)

    def accept():
        with listener:
            while True:
                client, _ = listener.accept()
                threading.Thread(target=echo, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return f"127.0.0.1:{port}"


def round_trip(client, size=1):
    begin = time.monotonic()
    client.sendall(bytes(size))
    received = 0
    while received < size:
        received += len(client.recv(65536))
    return time.monotonic() - begin


class Client(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.impair = cls.enterClassContext(Impair.start("--seed", "7"))
        cls.upstream = serve()

    def setUp(self):
        self.proxy = self.enterContext(self.impair.create("web", self.upstream))
        self.client = self.enterContext(socket.create_connection(self.proxy.address, timeout=60))
        self.client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def test_a_condition_holds_within_its_block(self):
        with self.proxy.condition(name="slow", delay="200ms") as slow:
            self.assertEqual(slow.state, {"name": "slow", "delay": "200ms", "seed": 7})
            self.assertEqual([c.name for c in self.proxy.conditions()], ["slow"])
            self.assertGreaterEqual(round_trip(self.client), 0.4)
            slow.update(direction="up", delay="250ms")
            self.assertEqual(slow.state["seed"], 8)
            self.assertTrue(0.25 <= round_trip(self.client) < 0.5)
            slow.update(direction=None, delay="1ms")
            self.assertEqual(slow.state, {"name": "slow", "delay": "1ms", "seed": 9})
        self.assertEqual(self.proxy.conditions(), [])
        self.assertLess(round_trip(self.client), 0.25)

    def test_a_condition_ends_with_an_error_in_its_block(self):
        with self.assertRaises(ZeroDivisionError), self.proxy.condition(loss=1):
            1 / 0
        self.assertEqual(self.proxy.conditions(), [])

    def test_a_condition_that_is_removed_in_its_block_is_no_error(self):
        with self.proxy.condition(delay="1ms") as condition:
            condition.remove()
        with self.proxy.condition(delay="1ms"):
            self.impair.reset()
        with self.impair.create("other", self.upstream) as other:
            other.remove()
        self.assertEqual(self.proxy.conditions(), [])

    def test_conditions_that_are_added_stay_until_a_reset(self):
        first, second = self.proxy.add(loss="1%"), self.proxy.add(rate="10mbit", queue=50)
        self.assertEqual([c.state for c in self.proxy.conditions()], [first.state, second.state])
        self.assertEqual(second.state, {"name": "condition-2", "rate": "10mbit", "queue": 50,
                                        "seed": 8})
        self.impair.reset()
        self.assertEqual(self.proxy.conditions(), [])

    def test_a_condition_holds_once_at_a_time(self):
        condition = self.proxy.condition(delay="1ms")
        for _ in range(2):
            with condition:
                with self.assertRaisesRegex(ImpairError, "^it holds already"), condition:
                    self.fail("it holds twice")
                self.assertEqual(len(self.proxy.conditions()), 1)
            self.assertEqual(self.proxy.conditions(), [])
        with self.assertRaisesRegex(ImpairError, "^it holds already"):
            self.proxy.add(delay="1ms").add()
        self.impair.reset()
        condition.add()
        self.impair.reset()
        condition.add()
        self.assertEqual(len(self.proxy.conditions()), 1)

    def test_losses_can_be_asserted(self):
        round_trip(self.client)
        self.assertEqual(self.proxy.refresh().state["lost"], 0)
        with self.proxy.condition(name="bad", loss="20%"):
            round_trip(self.client, 300_000)
            state = self.proxy.refresh().state
            self.assertGreater(state["lost"], 0)
            self.assertEqual(state["dropped"], {"bad": state["lost"]})

    def test_a_condition_holds_for_a_share_of_connections(self):
        def slow(seed):
            with self.proxy.condition(delay="50ms", toxicity="50%", seed=seed):
                times = []
                for _ in range(12):
                    with socket.create_connection(self.proxy.address, timeout=60) as client:
                        times.append(round_trip(client))
            return [time >= 0.1 for time in times]

        first = slow(3)
        self.assertEqual(set(first), {False, True})
        self.assertEqual(slow(3), first)

    def test_connections_are_reset_after_a_time(self):
        with self.proxy.condition(reset_after="200ms", toxicity=0):
            time.sleep(0.3)
            round_trip(self.client)
        begin = time.monotonic()
        with self.proxy.condition(reset_after="200ms"), self.assertRaises(ConnectionResetError):
            self.client.recv(1)
        self.assertGreaterEqual(time.monotonic() - begin, 0.2)

    def test_metrics_are_text(self):
        round_trip(self.client, 1000)
        lines = self.impair.metrics().splitlines()
        self.assertIn('ackclock_bytes_total{proxy="web",direction="up"} 1000', lines)
        self.assertIn('ackclock_connections_open{proxy="web"} 1', lines)

    def test_bytes_arrive_whatever_happens(self):
        with self.proxy.condition(loss="10%", delay="1ms", reorder="5%:5ms"):
            self.assertGreater(round_trip(self.client, 300_000), 0)
        state = self.proxy.refresh().state
        self.assertEqual((state["bytes_up"], state["bytes_down"]), (300_000, 300_000))

    def test_a_proxy_is_down_within_a_block(self):
        round_trip(self.client)
        with self.proxy.down():
            self.assertFalse(self.proxy.enabled)
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(self.proxy.address)
            with self.assertRaises(ConnectionResetError):
                self.client.recv(1)
        self.assertTrue(self.impair.proxy("web").enabled)
        with socket.create_connection(self.proxy.address) as again:
            round_trip(again)

    def test_proxies_are_made_listed_and_replaced(self):
        new = [{"name": "a", "upstream": self.upstream, "conditions": [{"delay": "1ms"}]},
               {"name": "b", "upstream": self.upstream, "enabled": False}]
        a, b = self.impair.populate(new)
        with a, b:
            self.assertEqual(set(self.impair.proxies()), {"a", "b", "web"})
            self.assertEqual((a.enabled, b.enabled), (True, False))
            self.assertEqual([c.state["delay"] for c in a.conditions()], ["1ms"])
            self.assertEqual(self.impair.populate(new)[0].address, a.address)
        self.assertEqual(set(self.impair.proxies()), {"web"})

    def test_what_is_refused_names_the_setting(self):
        for settings, status, text in [
            ({"los": 1}, 400, "los: there is no key `los` here"),
            ({"loss": "x"}, 400, "loss: "),
            ({"burst": 2}, 400, "burst: needs a loss, the share that is lost"),
            ({"name": "a/b"}, 400, "name: write 1 to 64 letters"),
        ]:
            with self.assertRaises(ImpairError) as caught, self.proxy.condition(**settings):
                self.fail("it is taken")
            self.assertEqual(caught.exception.status, status)
            self.assertTrue(str(caught.exception).startswith(text), caught.exception)
        with self.assertRaises(ImpairError) as caught:
            self.impair.proxy("no/thing")
        self.assertEqual(caught.exception.status, 404)
        new = self.proxy.condition(loss="1%")
        for call in (lambda: self.impair.proxy(""), new.remove, lambda: new.update(loss="2%")):
            with self.assertRaisesRegex(ImpairError, "^name: it is empty") as caught:
                call()
            self.assertEqual(caught.exception.status, 400)
        with self.assertRaises(ImpairError) as caught:
            self.impair.create("web", self.upstream)
        self.assertEqual(caught.exception.status, 409)

    def test_the_version_is_the_commands(self):
        self.assertRegex(self.impair.version(), r"^\d+\.\d+\.\d+$")


class Starting(unittest.TestCase):
    def test_the_command_ends_by_its_own(self):
        with mock.patch.object(subprocess.Popen, "kill", side_effect=AssertionError), \
                Impair.start() as impair:
            impair.version()

    def test_options_make_the_default_proxy(self):
        options = ("--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--loss", "1%", "--seed", "3")
        with Impair.start(*options) as impair:
            proxy = impair.proxy("default")
            self.assertEqual([c.state for c in proxy.conditions()],
                             [{"name": "options", "loss": 0.01, "seed": 3}])
        with self.assertRaises(ImpairError) as caught:
            impair.version()
        self.assertIsNone(caught.exception.status)

    def test_a_command_that_ends_says_why(self):
        for options, text in [
            (["--loss", "1%"], "the options of conditions need --listen"),
            (["--listen", "127.0.0.1:0"], "--to"),
            (["--los"], "unexpected argument"),
        ]:
            with self.assertRaises(ImpairError) as caught, Impair.start(*options):
                self.fail("it runs")
            self.assertIn(text, str(caught.exception))
        with self.assertRaisesRegex(ImpairError, "no-such-command does not run"):
            Impair.start(command=["no-such-command"]).__enter__()

    def test_the_variable_is_read_as_the_system_writes_paths(self):
        for system, text, words in [
            ("nt", r'"C:\Program Files\a.exe" impair', [r"C:\Program Files\a.exe", "impair"]),
            ("posix", r'"/opt/a b" im\pair', ["/opt/a b", "impair"]),
        ]:
            with mock.patch.object(ackclock_impair.os, "name", system), \
                    mock.patch.dict(os.environ, {"ACKCLOCK_IMPAIR": text}):
                self.assertEqual(ackclock_impair._command(), words)

    def test_the_example_runs(self):
        example = pathlib.Path(__file__).with_name("example.py")
        ended = subprocess.run([sys.executable, str(example)], capture_output=True, text=True)
        self.assertEqual(ended.stderr, "")
        self.assertEqual(re.findall("True|False|reset", ended.stdout), ["True"] * 3 + ["reset"])


if __name__ == "__main__":
    unittest.main()

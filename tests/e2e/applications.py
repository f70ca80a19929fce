# SPDX-License-Identifier: Apache-2.0
"""Real applications for tests: RabbitMQ, ejabberd and Elixir, of tools/otp-lab."""
import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import nodes

RELEASE = "27-applications"
RELEASES = ("25-applications", RELEASE, "29-applications")  # the others only if they were fetched


def root(release):
    """Return the root folder of the applications of a release."""
    return nodes.emulator(release).parents[5]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Application:
    """A node that runs an application. Use as a context manager: it ends with the block.

    The application finds its configuration, the files of `configuration` ({name: text}), in /lab,
    and can write to /tmp, which is its own. `pid` is the VM's pid on the host, `output` what it has
    printed so far.
    """

    def __init__(self, arguments, environment=(), configuration=(), release=RELEASE):
        nodes.require(release)
        self.folder = tempfile.TemporaryDirectory(prefix="beamflame-test-")
        folder = Path(self.folder.name)
        os.chmod(folder, 0o755)
        (folder / "lab").mkdir()
        for name, text in dict(configuration).items():
            (folder / "lab" / name).write_text(text, encoding="utf-8")
        self.log, pid_file = folder / "log", folder / "pid"
        command, variables = self.launcher(release, folder / "lab", pid_file, {
            "HOME": "/tmp", "LC_ALL": "C.UTF-8", "ERL_EPMD_PORT": str(free_port()),
            "ERL_EPMD_ADDRESS": "127.0.0.1", **dict(environment)})
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*command, *nodes.NO_BUSY_WAIT, *arguments], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, start_new_session=True, env={**os.environ, **variables})
        try:
            self.wait(lambda: pid_file.exists() and pid_file.read_text().strip())
            self.pid = int(pid_file.read_text())
        except BaseException:
            self.kill()
            raise

    def launcher(self, release, lab, pid_file, environment):
        """Return the command that runs erl with the arguments that follow, and the variables that
        the command itself has."""
        return [nodes.OTP_LAB, "run", release, "--ns", "--pa", lab, "--pid-file", pid_file,
                "--"], environment

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        """Kill the node; all that runs in its namespace ends with it."""
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    @property
    def output(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def wait(self, condition, seconds=60):
        """Wait until the condition is true; return its value."""
        deadline = time.monotonic() + seconds
        while not (value := condition()):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise AssertionError(f"the application does not start; it said {self.output[-2000:]!r}")
            time.sleep(0.05)
        return value

    def wait_for_port(self, port):
        def accepts():
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
            except OSError:
                return False
            return True

        self.wait(accepts)


class RabbitMQ(Application):
    def __init__(self, release=RELEASE):
        nodes.require(release)
        self.port, distribution = free_port(), free_port()
        top = root(release)
        plugins = next((top / "usr/lib/rabbitmq/lib").glob("*/plugins")).relative_to(top)
        super().__init__(
            ["-noinput", "-boot", "start_sasl", "-s", "rabbit", "boot", "+W", "w",
             "-syslog", "logger", "[]", "-syslog", "syslog_error_logger", "false",
             "-kernel", "inet_dist_use_interface", "{127,0,0,1}"],
            environment={
                "ERL_LIBS": f"/{plugins}", "RABBITMQ_PLUGINS_DIR": f"/{plugins}",
                "RABBITMQ_NODENAME": "rabbit@localhost", "RABBITMQ_DIST_PORT": str(distribution),
                "RABBITMQ_MNESIA_BASE": "/tmp/mnesia", "RABBITMQ_LOG_BASE": "/tmp/log",
                "RABBITMQ_CONFIG_FILE": "/lab/rabbitmq.conf",
                "RABBITMQ_CONF_ENV_FILE": "/lab/environment",
                "RABBITMQ_ENABLED_PLUGINS_FILE": "/lab/enabled_plugins"},
            configuration={
                "rabbitmq.conf": f"listeners.tcp.1 = 127.0.0.1:{self.port}\n", "environment": "",
                "enabled_plugins": "[].\n"},
            release=release)
        try:
            self.wait_for_port(self.port)
        except BaseException:
            self.kill()
            raise


class Ejabberd(Application):
    """Anybody may log in, by any password. `port` is that of its API, `clients` that of XMPP."""

    CONFIGURATION = """
hosts: [localhost]
loglevel: error
auth_method: [anonymous]
anonymous_protocol: login_anon
listen:
  - {{port: {port}, ip: "127.0.0.1", module: ejabberd_http, request_handlers: {{/api: mod_http_api}}}}
  - {{port: {clients}, ip: "127.0.0.1", module: ejabberd_c2s}}
api_permissions:
  all: {{from: [mod_http_api], who: all, what: "*"}}
modules:
  mod_admin_extra: {{}}
  mod_http_api: {{}}
  mod_last: {{}}
  mod_roster: {{}}
"""

    def __init__(self, release=RELEASE):
        self.port, self.clients = free_port(), free_port()
        super().__init__(
            ["-noinput", "-sname", "ejabberd@localhost", "-mnesia", "dir", '"/tmp/spool"',
             "-s", "ejabberd", "-kernel", "inet_dist_use_interface", "{127,0,0,1}"],
            environment={"ERL_LIBS": "/usr/lib/x86_64-linux-gnu", "SPOOL_DIR": "/tmp/spool",
                         "EJABBERD_CONFIG_PATH": "/lab/ejabberd.yml",
                         "EJABBERD_LOG_PATH": "/tmp/ejabberd.log"},
            configuration={"ejabberd.yml": self.CONFIGURATION.format(port=self.port,
                                                                        clients=self.clients)},
            release=release)
        try:
            self.wait_for_port(self.port)
            self.wait_for_port(self.clients)
        except BaseException:
            self.kill()
            raise


class Elixir(Application):
    def __init__(self, script, environment=(), release=RELEASE):
        """Run a script, which prints a line when it is ready."""
        super().__init__(
            ["-noshell", "-elixir_root", "/usr/lib/elixir/lib", "-pa", "/usr/lib/elixir/lib/elixir/ebin",
             "-s", "elixir", "start_cli", "-extra", "/lab/script.exs"],
            environment, configuration={"script.exs": script}, release=release)
        try:
            self.wait(lambda: self.output)
        except BaseException:
            self.kill()
            raise

"""A PostgreSQL that a test may stop, starve and lock up."""
import glob

from harness import *


class Server:
    """A PostgreSQL of the test's own, on TCP, as --db names one."""

    def __init__(self, home):
        self.bin = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.data = os.path.join(home, "pg-of-the-test")
        self.user = {"user": "postgres", "group": "postgres", "extra_groups": []} \
            if os.geteuid() == 0 else {}
        os.mkdir(self.data, 0o700)
        if self.user:
            shutil.chown(self.data, "postgres", "postgres")
        self.port = free_port()
        self.run("initdb", "-D", self.data, "-U", "vigil", "-A", "trust", "-N", "-E", "UTF8")
        self.url = f"postgresql://vigil@127.0.0.1:{self.port}/postgres"
        self.start()

    def run(self, program, *args):
        done = subprocess.run([os.path.join(self.bin, program), *args], cwd="/", text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, **self.user)
        assert done.returncode == 0, f"{program} {args}: {done.stdout}"

    def start(self):
        self.run("pg_ctl", "start", "-w", "-D", self.data, "-l", self.data + "/log", "-o",
                 f"-p {self.port} -c listen_addresses=127.0.0.1 -c fsync=off"
                 f" -c unix_socket_directories={self.data}")

    def stop(self, how):
        self.run("pg_ctl", "stop", "-w", "-m", how, "-D", self.data)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", self.data)

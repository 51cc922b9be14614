#!/usr/bin/env python3
"""Kills a server under load again and again, and looks whether what it had answered is there.

    kills.py BINARY [--rounds N] [--seconds S] [--seed N] [--clients N] [--port N] [--calm]

Each round starts `BINARY serve FOLDER`, lets clients move sums between accounts, count their transactions, bring and take families (rows
of one table that refer to those of another), while checkpoints, merges and moves run, and ends it by SIGKILL after a time that the seed says.
After each restart: no sum has changed, of each client all transactions are there that were answered and at most the one that was not,
and no row refers to nothing. A round that finds anything else ends the run with the number of the seed and of the round.

With --calm nobody is killed: the clients work for all the seconds, and then the same must hold.
"""

import argparse
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import psycopg

ACCOUNTS, SUM = 50, 1000
TABLES = [
    "CREATE TABLE accounts (id INT PRIMARY KEY, v BIGINT NOT NULL)",
    "CREATE TABLE counts (client INT, n INT, PRIMARY KEY (client, n))",
    "CREATE TABLE parents (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE children (n INT, parent INT REFERENCES parents ON DELETE CASCADE)",
    f"INSERT INTO accounts SELECT i, {SUM} FROM generate_series(1, {ACCOUNTS}) AS t (i)",
]

BESIDE = ["CHECKPOINT", "CALL nodewise.merge('accounts')", "CALL nodewise.merge('counts')", "ALTER TABLE accounts NUMA NODE (0)"]


class Server:
    def __init__(self, binary, folder, port):
        self.port = port
        command = [binary, "serve", str(folder), "--listen", f"127.0.0.1:{port}", "--trust-loopback"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def connect(self, seconds=300):
        until = time.monotonic() + seconds
        while True:
            try:
                return psycopg.connect(
                    f"host=127.0.0.1 port={self.port} user=nodewise dbname=nodewise", autocommit=True
                )
            except psycopg.Error:
                if time.monotonic() > until or self.process.poll() is not None:
                    raise
                time.sleep(0.02)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Client(threading.Thread):
    """Does transactions until the server is gone."""

    def __init__(self, server, number, first, seed):
        super().__init__(daemon=True)
        self.connection, self.number, self.answered = server.connect(), number, first
        self.random = random.Random(seed)
        self.unexpected, self.stops = None, False

    def run(self):
        try:
            while not self.stops:
                self.step()
        except psycopg.OperationalError as error:
            if error.sqlstate and error.sqlstate not in ("57P01", "57P02", "57P03"):
                self.unexpected = error
        except psycopg.Error as error:
            self.unexpected = error

    def step(self):
        draw, n = self.random.randrange(10), self.answered + 1
        try:
            if draw < 6:
                a, b = self.random.sample(range(1, ACCOUNTS + 1), 2)
                with self.connection.transaction():
                    self.connection.execute("UPDATE accounts SET v = v - 1 WHERE id = %s", (a,))
                    self.connection.execute("UPDATE accounts SET v = v + 1 WHERE id = %s", (b,))
                    self.connection.execute("INSERT INTO counts VALUES (%s, %s)", (self.number, n))
                self.answered = n
            elif draw == 6:
                sql = "INSERT INTO parents VALUES (%s, 0) ON CONFLICT (id) DO UPDATE SET v = parents.v + 1"
                self.connection.execute(sql, (self.random.randrange(20),))
            elif draw == 7:
                self.connection.execute("DELETE FROM parents WHERE id = %s", (self.random.randrange(20),))
            elif draw == 8:
                row = (n, self.random.randrange(20))
                self.connection.execute("INSERT INTO children VALUES (%s, %s)", row)
            elif self.number == 0:
                self.connection.execute(self.random.choice(BESIDE))
        except psycopg.Error as error:
            # A row that refers to nothing, who comes too late, and of two who wait for one another one.
            if error.sqlstate not in ("23503", "40P01", "40001"):
                raise


def wrong(connection, answered):
    """What is not as it was answered; nothing where all is."""
    one = lambda sql: connection.execute(sql).fetchone()[0]
    total = one("SELECT sum(v) FROM accounts")
    if total != ACCOUNTS * SUM:
        return f"the sum is {total}"
    orphans = one("SELECT count(*) FROM children WHERE parent NOT IN (SELECT id FROM parents)")
    if orphans:
        return f"{orphans} rows refer to nothing"
    for client, n in answered.items():
        count, most = connection.execute(
            "SELECT count(*), coalesce(max(n), 0) FROM counts WHERE client = %s", (client,)
        ).fetchone()
        if count != most or most not in (n, n + 1):
            return f"client {client} was answered {n}, there are {count} up to {most}"
        answered[client] = most
    return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("binary")
    arguments.add_argument("--rounds", type=int, default=10_000)
    arguments.add_argument("--seconds", type=float, default=600)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--clients", type=int, default=4)
    arguments.add_argument("--port", type=int, default=7466)
    arguments.add_argument("--calm", action="store_true")
    said = arguments.parse_args()
    draw, until = random.Random(said.seed), time.monotonic() + said.seconds
    folder, answered, done, transactions = None, {}, 0, 0
    while done < said.rounds and time.monotonic() < until:
        # Now and then it begins anew, so that what is read back stays small.
        if folder is None or done % 100 == 0:
            folder and shutil.rmtree(folder, ignore_errors=True)
            folder = pathlib.Path(tempfile.mkdtemp(prefix="kills"))
            answered = dict.fromkeys(range(said.clients), 0)
        server = Server(said.binary, folder, said.port)
        connection = server.connect()
        if done % 100 == 0:
            for sql in TABLES:
                connection.execute(sql)
        found = wrong(connection, answered)
        if found:
            server.kill()
            print(f"seed {said.seed}, round {done}: {found}; see {folder}")
            return 1
        clients = [Client(server, it, answered[it], draw.random()) for it in range(said.clients)]
        for client in clients:
            client.start()
        if said.calm:
            time.sleep(max(0, until - time.monotonic()))
            for client in clients:
                client.stops = True
            for client in clients:
                client.join()
            found = wrong(connection, {it.number: it.answered for it in clients})
        else:
            time.sleep(draw.random() * 0.3)
        server.kill()
        connection.close()
        if said.calm and found:
            print(f"seed {said.seed}: {found}; see {folder}")
            return 1
        for client in clients:
            client.join()
            if client.unexpected:
                print(f"seed {said.seed}, round {done}: {client.unexpected}")
                return 1
            transactions += client.answered - answered[client.number]
            answered[client.number] = client.answered
        done += 1
    shutil.rmtree(folder, ignore_errors=True)
    kills = "no kill" if said.calm else f"{done} kills"
    print(f"seed {said.seed}: {kills} under {transactions} transactions of {said.clients} clients, nothing lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())

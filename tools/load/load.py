#!/usr/bin/env python3
"""Many clients at a server, good and bad ones, by bytes of the protocol: what they were answered, and what the server has left of them.

    load.py BINARY [--seconds S] [--busy N] [--idle N] [--messages N] [--seed N] [--port N]

Starts `BINARY serve FOLDER`. For all the seconds `--busy` clients read and write rows one statement after the other, while `--idle` ones
wait, some read a long answer a few bytes at a time, some begin a conversation and say no more, and some go away in the middle of one.
Then conversations with `--messages` messages in all are sent of which bytes are others, are missing or come twice. Last comes what must
hold: each row that was answered is there once, rows that were not are there at most once, no connection, transaction or statement is
left, and the server has the threads it had, and memory within a bound. A client by itself is measured alone and beside one that is slow.
Exits 1 where something does not hold.
"""

import argparse
import asyncio
import pathlib
import random
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROWS = 100_000
# What the server may hold more after all have gone than before they came, in MiB.
LEFT = 256


def packet(kind, body=b""):
    return kind + struct.pack("!I", len(body) + 4) + body


def startup(user=b"nodewise"):
    body = struct.pack("!I", 3 << 16) + b"user\0" + user + b"\0\0"
    return struct.pack("!I", len(body) + 4) + body


def query(sql):
    return packet(b"Q", sql.encode() + b"\0")


def prepared(sql, *values):
    bound = b"".join(struct.pack("!i", len(it)) + it for it in values)
    return (
        packet(b"P", b"\0" + sql.encode() + b"\0\0\0")
        + packet(b"B", b"\0\0\0\0" + struct.pack("!h", len(values)) + bound + b"\0\0")
        + packet(b"D", b"P\0")
        + packet(b"E", b"\0\0\0\0\0")
        + packet(b"S")
    )


class Gone(Exception):
    """The server has ended the connection."""


class Client:
    """A connection."""

    @classmethod
    async def connect(cls, port, buffer=2**16):
        self = cls()
        for _ in range(200):
            try:
                self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port, limit=buffer)
                break
            except OSError:
                await asyncio.sleep(0.05)
        self.writer.write(startup())
        await self.until_ready()
        return self

    async def message(self):
        try:
            head = await self.reader.readexactly(5)
            return head[:1], await self.reader.readexactly(struct.unpack("!I", head[1:])[0] - 4)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Gone from error

    async def until_ready(self):
        """The rows of an answer, and the SQLSTATE of its error."""
        rows, state = [], None
        while True:
            kind, body = await self.message()
            if kind == b"D":
                rows.append(body)
            elif kind == b"E":
                state = next(it[1:].decode() for it in body.split(b"\0") if it[:1] == b"C")
            elif kind == b"Z":
                return rows, state

    async def run(self, sent):
        self.writer.write(sent)
        return await self.until_ready()

    async def one(self, sql):
        rows, state = await self.run(query(sql))
        if state or not rows:
            raise RuntimeError(f"{sql}: {state}")
        return rows[0][6:].decode()

    def leave(self):
        self.writer.transport.abort()


class Load:
    def __init__(self, said, port, process):
        self.said, self.port, self.process = said, port, process
        self.random = random.Random(said.seed)
        self.answered, self.in_doubt, self.done, self.times, self.refused = 0, 0, 0, [], {}
        self.ends = False

    def threads(self):
        return len(list(pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()))

    def memory(self):
        """MiB that are resident."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(it.split()[1]) for it in fields if it.startswith("VmRSS")) // 1024

    async def busy(self, number):
        client, own = await Client.connect(self.port), random.Random(self.random.random())
        n = 0
        while not self.ends:
            draw, began = own.randrange(10), time.monotonic()
            key = str(own.randrange(ROWS)).encode()
            if draw < 6:
                sent = prepared("SELECT v FROM load_rows WHERE id = $1::int", key)
            elif draw < 9:
                n += 1
                sent = prepared("INSERT INTO load_came VALUES ($1::int, $2::int)", str(number).encode(), str(n).encode())
            else:
                sent = query("SELECT v % 10, count(*), sum(v) FROM load_rows GROUP BY 1 ORDER BY 1")
            rows, state = await client.run(sent)
            if state or draw < 6 and len(rows) != 1 or draw == 9 and len(rows) != 10:
                self.refused[state] = self.refused.get(state, 0) + 1
            elif 6 <= draw < 9:
                self.answered += 1
            self.done += 1
            self.times.append(time.monotonic() - began)
        client.leave()

    async def slow(self):
        """Reads a long answer a few bytes at a time."""
        client = await Client.connect(self.port, 2**10)
        client.writer.write(query("SELECT id, repeat('x', 500) FROM load_rows"))
        while not self.ends:
            await asyncio.wait_for(client.reader.read(100), 60)
            await asyncio.sleep(0.01)
        client.leave()

    async def half_open(self):
        """Begins to say something."""
        whole = startup() if self.random.random() < 0.5 else struct.pack("!II", 8, 80877103)
        _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(whole[: self.random.randrange(len(whole))])
        while not self.ends:
            await asyncio.sleep(0.1)
        writer.transport.abort()

    async def broken(self):
        """Goes away in the middle of something, again and again."""
        n = 0
        while not self.ends:
            client = await Client.connect(self.port)
            n += 1
            what = self.random.randrange(4)
            if what == 0:
                client.writer.write(query(f"INSERT INTO load_came VALUES (-1, {n}), (-1, {n})"))
                self.in_doubt += 1
            elif what == 1:
                client.writer.write(query("SELECT sum(a.v * b.v) FROM load_rows a, load_rows b"))
            elif what == 2:
                await client.run(query("BEGIN; INSERT INTO load_came VALUES (-2, 0)"))
            else:
                client.writer.write(prepared("SELECT $1::int", b"1")[: self.random.randrange(40)])
            await asyncio.sleep(self.random.random() * 0.05)
            client.leave()

    async def alone(self, seconds):
        """The median and the 99th of a hundred of the times of a read by key, in microseconds, by one client."""
        client, times, until = await Client.connect(self.port), [], time.monotonic() + seconds
        while time.monotonic() < until:
            began = time.monotonic()
            await client.run(prepared("SELECT v FROM load_rows WHERE id = $1::int", b"17"))
            times.append((time.monotonic() - began) * 1e6)
        client.leave()
        return statistics.median(times), statistics.quantiles(times, n=100)[98]

    async def beside_slow(self):
        """The times alone and beside clients that are slow, in turns."""
        figures = {False: [], True: []}
        for turn in range(6):
            self.ends, tasks = False, []
            if turn % 2:
                tasks = [asyncio.create_task(self.slow()) for _ in range(4)]
                await asyncio.sleep(0.5)
            figures[bool(turn % 2)].append(await self.alone(2))
            self.ends = True
            await asyncio.gather(*tasks)
        best = {key: min(it[0] for it in value) for key, value in figures.items()}
        print(f"a row by key: {best[False]:.0f} us alone, {best[True]:.0f} us beside four slow readers")
        return best[True] / best[False]

    def conversation(self):
        """Messages of which some are not as they should be, and how many."""
        draw = self.random
        good = [
            query("SELECT 1; SELECT 'a', NULL"),
            query("SELECT v FROM load_rows LIMIT 50"),
            prepared("SELECT $1::int + 1", b"41"),
            packet(b"P", b"s\0SELECT v FROM load_rows WHERE id = $1\0\0\x01\0\0\0\x17"),
            packet(b"B", b"p\0s\0\0\x01\0\x01\0\x01\0\0\0\x04\0\0\0\x05\0\x01\0\x01"),
            packet(b"D", b"Ss\0"),
            packet(b"D", b"Pp\0"),
            packet(b"E", b"p\0\0\0\0\x01"),
            packet(b"C", b"Ss\0"),
            packet(b"H"),
            packet(b"S"),
            query("COPY load_scratch FROM STDIN"),
            packet(b"d", b"1\t2\n3\t4\n"),
            packet(b"c"),
            packet(b"f", b"no\0"),
            query("COPY load_scratch TO STDOUT (FORMAT binary)"),
            query("BEGIN"),
            query("INSERT INTO load_scratch VALUES (1, 2)"),
            query("ROLLBACK"),
            packet(b"F", b"\0\0\0\x01\0\0\0\0\0\0"),
        ]
        count, sent = draw.randrange(1, 60), bytearray()
        for _ in range(count):
            one = bytearray(draw.choice(good))
            match draw.randrange(12):
                case 0 | 1 | 2:  # A byte of the body, so that the frame is right.
                    if len(one) > 5:
                        one[draw.randrange(5, len(one))] = draw.randrange(256)
                case 3:  # A body of another length.
                    body = one[5:] + bytes(draw.randrange(256) for _ in range(draw.randrange(20)))
                    one = packet(bytes(one[:1]), bytes(body[: draw.randrange(len(body) + 1)]))
                case 4:  # Another kind.
                    one[0] = draw.randrange(256)
                case 5 if draw.randrange(8) == 0:  # Any byte, its length perhaps.
                    one[draw.randrange(len(one))] = draw.randrange(256)
                case 6 if draw.randrange(8) == 0:
                    del one[draw.randrange(len(one)) :]
            sent += one
        return bytes(sent) + packet(b"S") + packet(b"X"), count

    async def mutate(self, share):
        sent = 0
        while sent < share:
            bytes_, count = self.conversation()
            client = await Client.connect(self.port)
            client.writer.write(bytes_)
            try:
                client.writer.write_eof()
                while await asyncio.wait_for(client.reader.read(2**16), 20):
                    pass
            except (ConnectionError, OSError):
                pass
            except asyncio.TimeoutError:
                self.refused["hangs"] = self.refused.get("hangs", 0) + 1
                print(f"no end of {bytes_!r}")
            client.leave()
            sent += count
        return sent

    async def left(self, before):
        """What does not hold."""
        client, wrong = await Client.connect(self.port), []
        for _ in range(200):
            if await client.one("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'") == "1":
                break
            await asyncio.sleep(0.1)
        expected = {
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'": "1",
            "SELECT count(*) FROM nodewise.queries": "1",
            "SELECT count(*) FROM nodewise.transactions WHERE state <> 'active'": "0",
            "SELECT count(*) FROM nodewise.locks": "0",
            "SELECT count(*) FROM load_came WHERE client >= 0": str(self.answered),
            "SELECT count(DISTINCT (client, n)) FROM load_came WHERE client >= 0": str(self.answered),
            "SELECT count(*) FROM load_came WHERE client = -2": "0",
            "SELECT count(*) FROM (SELECT FROM load_came WHERE client = -1 GROUP BY n HAVING count(*) % 2 = 1) AS x": "0",
        }
        for sql, value in expected.items():
            found = await client.one(sql)
            if found != value:
                wrong.append(f"{sql}: {found}, not {value}")
        if int(await client.one("SELECT count(*) FROM load_came WHERE client = -1")) > 2 * self.in_doubt:
            wrong.append("more rows of broken clients than they sent")
        # Threads that have nothing to do end after a while.
        for _ in range(300):
            if self.threads() <= before[0] + 2:
                break
            await asyncio.sleep(0.1)
        threads, memory = self.threads(), self.memory()
        print(f"threads {before[0]} before, {threads} after; resident {before[1]} MiB before, {memory} MiB after")
        if threads > before[0] + 2:
            wrong.append(f"{threads} threads, {before[0]} before")
        if memory > before[1] + LEFT:
            wrong.append(f"{memory} MiB, {before[1]} before")
        client.leave()
        return wrong

    async def main(self):
        said, first = self.said, await Client.connect(self.port)
        for sql in [
            f"CREATE TABLE load_rows AS SELECT i AS id, i * 7 % 1000 AS v FROM generate_series(0, {ROWS - 1}) AS t (i)",
            "ALTER TABLE load_rows ADD PRIMARY KEY (id)",
            "CREATE TABLE load_came (client INT, n INT)",
            "CREATE TABLE load_scratch (a INT, b INT)",
        ]:
            _, state = await first.run(query(sql))
            if state:
                raise RuntimeError(f"{sql}: {state}")
        ratio = await self.beside_slow()
        before = (self.threads(), self.memory())
        idle = [await Client.connect(self.port) for _ in range(said.idle)]
        print(f"{said.idle} idle: {self.threads()} threads, {self.memory()} MiB")
        self.ends = False
        kinds = [self.busy(it) for it in range(said.busy)] + [self.slow() for _ in range(4)]
        kinds += [self.half_open() for _ in range(50)] + [self.broken() for _ in range(4)]
        tasks = [asyncio.create_task(it) for it in kinds]
        began, peak = time.monotonic(), 0
        while time.monotonic() < began + said.seconds:
            await asyncio.sleep(0.5)
            peak = max(peak, self.memory())
            if any(it.done() for it in tasks):
                break
        self.ends = True
        await asyncio.gather(*tasks)
        spent = time.monotonic() - began
        median = statistics.median(self.times) * 1e3 if self.times else 0
        print(f"{said.busy} busy for {spent:.0f} s: {self.done} statements, {self.done / spent:.0f} a second, "
              f"median {median:.1f} ms, at most {peak} MiB, refused {self.refused or 'none'}")
        alive = sum([await it.one("SELECT 1") == "1" for it in idle])
        for it in [*idle, first]:
            it.leave()
        sent = sum(await asyncio.gather(*(self.mutate(said.messages // 16) for _ in range(16))))
        print(f"{sent} messages in conversations with wrong ones, {time.monotonic() - began - spent:.0f} s")
        wrong = await self.left(before)
        if alive != said.idle:
            wrong.append(f"of {said.idle} idle clients {alive} were there in the end")
        if self.refused:
            wrong.append(f"refused: {self.refused}")
        return wrong, ratio


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("binary")
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--busy", type=int, default=1024)
    arguments.add_argument("--idle", type=int, default=8000)
    arguments.add_argument("--messages", type=int, default=1_000_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--port", type=int, default=7476)
    said = arguments.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    folder = tempfile.mkdtemp(prefix="load")
    options = ["--listen", f"127.0.0.1:{said.port}", "--trust-loopback", "--max-connections", "20000"]
    process = subprocess.Popen([said.binary, "serve", folder, *options], stdout=subprocess.DEVNULL)
    try:
        wrong, _ = asyncio.run(Load(said, said.port, process).main())
        if process.poll() is not None:
            wrong.append(f"the server ended: {process.returncode}")
        process.terminate()
        if process.wait(60) != 0:
            wrong.append(f"the server's exit code is {process.returncode}")
    finally:
        process.kill()
        shutil.rmtree(folder, ignore_errors=True)
    for it in wrong:
        print(f"wrong: {it}")
    print("all holds" if not wrong else f"{len(wrong)} do not hold")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

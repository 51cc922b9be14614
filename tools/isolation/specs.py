#!/usr/bin/env python3
"""Runs PostgreSQL's isolation specs (src/test/isolation/specs/*.spec) against Nodewise and PostgreSQL, and compares them.

    specs.py [--own DSN] [--peer DSN] [--most N] [--show] FILE...

Each permutation of a file runs on both: a step that has not ended after a while waits. Compared are what each step comes to (its rows in
order, its tag, or its SQLSTATE) and which steps had to wait. Of files that name no permutations N of all are run.
"""

import argparse
import collections
import decimal
import math
import pathlib
import re
import sys
import threading

import psycopg

WAIT = 0.25


class Spec:
    """A file: setups, teardown, sessions with their steps, permutations."""

    def __init__(self, text):
        text = re.sub(r"(?m)^\s*#.*$", "", text)
        self.setups, self.teardown, self.sessions, self.permutations = [], [], [], []
        tokens = re.findall(r"#[^\n]*|\{[^}]*\}|\"[^\"]*\"|\([^)]*\)|[\w-]+|\*", text)
        tokens = [it for it in tokens if it[0] != "#"]
        at, session = 0, None
        while at < len(tokens):
            word = tokens[at]
            if word in ("setup", "teardown"):
                body = tokens[at + 1][1:-1].strip()
                if session is None:
                    (self.setups if word == "setup" else self.teardown).append(body)
                else:
                    session[word].append(body)
                at += 2
            elif word == "session":
                session = {"name": tokens[at + 1].strip('"'), "setup": [], "teardown": [], "steps": {}}
                self.sessions.append(session)
                at += 2
            elif word == "step":
                session["steps"][tokens[at + 1].strip('"')] = tokens[at + 2][1:-1].strip()
                at += 3
            elif word == "permutation":
                at += 1
                steps = []
                while at < len(tokens) and tokens[at] not in ("permutation", "session", "setup"):
                    if tokens[at][0] not in "(*":
                        steps.append(tokens[at].strip('"'))
                    at += 1
                self.permutations.append(steps)
            else:
                raise ValueError(f"unexpected {word}")
        self.owner = {step: number for number, it in enumerate(self.sessions) for step in it["steps"]}

    def all_permutations(self, most):
        """At most so many orders of the steps in which each session has its own in order: those that the file names, or such as lie
        evenly among all there are."""
        if self.permutations:
            return self.permutations[:most]
        steps = [list(it["steps"]) for it in self.sessions]
        total = orders([len(it) for it in steps])
        taken = min(most, total)
        return [self.order_at(steps, number * total // taken) for number in range(taken)]

    def order_at(self, steps, number):
        """The order with this number, counted by which session goes first."""
        left, order = [len(it) for it in steps], []
        while any(left):
            for session, own in enumerate(steps):
                if not left[session]:
                    continue
                left[session] -= 1
                below = orders(left)
                if number < below:
                    order.append(own[len(own) - left[session] - 1])
                    break
                number -= below
                left[session] += 1
        return order


def orders(counts):
    """How many ways there are to mix sessions of so many steps."""
    ways, so_far = 1, 0
    for count in counts:
        so_far += count
        ways *= math.comb(so_far, count)
    return ways



def written(value):
    """A value as text; numbers without the zeros behind their point, as the engines keep other scales."""
    return format(value.normalize(), "f") if isinstance(value, decimal.Decimal) else str(value)


def run_sql(connection, sql):
    try:
        cursor = connection.execute(sql)
        results = []
        while True:
            rows = [tuple(written(it) for it in row) for row in cursor.fetchall()] if cursor.description else None
            results.append(rows if rows is not None else cursor.statusmessage)
            if not cursor.nextset():
                return results
    except psycopg.Error as error:
        return error.sqlstate or "08000"


class Session:
    def __init__(self, dsn, own):
        self.connection = psycopg.connect(dsn, autocommit=True)
        self.running, self.result = None, None
        self.own = own

    def start(self, sql):
        def run():
            self.result = run_sql(self.connection, sql)

        self.running = threading.Thread(target=run, daemon=True)
        self.running.start()

    def ended(self, seconds):
        self.running.join(seconds)
        return not self.running.is_alive()


def run_permutation(spec, steps, dsn):
    """What each step comes to; None where a session would have to do two things at once."""
    control = psycopg.connect(dsn, autocommit=True)
    for sql in spec.setups:
        state = run_sql(control, sql)
        if isinstance(state, str):
            cleanup(control, spec)
            return [("setup", False, state)]
    sessions = [Session(dsn, it) for it in spec.sessions]
    outcome, waiting, valid = {}, {}, True
    try:
        for session in sessions:
            for sql in session.own["setup"]:
                state = run_sql(session.connection, sql)
                if isinstance(state, str):
                    return [("setup", False, state)]
        for place, step in enumerate(steps):
            number = spec.owner[step]
            session = sessions[number]
            if number in waiting:
                if not session.ended(WAIT):
                    valid = False
                    break
                outcome[waiting.pop(number)][1:] = [session.result]
            session.start(session.own["steps"][step])
            key = (place, step)
            if session.ended(WAIT):
                outcome[key] = [False, session.result]
            else:
                outcome[key] = [True, None]
                waiting[number] = key
            for other in list(waiting):
                if other != number and sessions[other].ended(WAIT):
                    outcome[waiting.pop(other)][1:] = [sessions[other].result]
        for other in list(waiting):
            if sessions[other].ended(2 if valid else 0):
                outcome[waiting.pop(other)][1:] = [sessions[other].result]
    finally:
        for session in sessions:
            if session.running and session.running.is_alive():
                session.connection.cancel()
                session.ended(5)
            session.connection.close()
        cleanup(control, spec)
    return [(step, *it) for (_, step), it in outcome.items()] if valid else None


def cleanup(control, spec):
    for sql in spec.teardown:
        for part in sql.split(";"):
            if part.strip():
                run_sql(control, part)
    control.close()


def compare(spec, steps, own, peer):
    theirs = run_permutation(spec, steps, peer)
    if theirs is None or theirs[0][0] == "setup":
        return "not valid", None, theirs
    ours = run_permutation(spec, steps, own)
    if ours == theirs:
        return "same", ours, theirs
    states = [it[2] for it in (ours or []) if isinstance(it[2], str)]
    refused = [it for it in states if it in ("0A000", "42601", "42883", "42704", "3F000")]
    if refused:
        return "refused", ours, theirs
    if ours is None:
        # A session had to go on while it still waited, which it does not on the peer.
        return "other waits", ours, theirs
    if [it[::2] for it in ours] != [it[::2] for it in theirs]:
        return "other result", ours, theirs
    return "other waits", ours, theirs


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--own", default="host=127.0.0.1 port=7400 user=nodewise dbname=nodewise")
    arguments.add_argument("--peer", default="host=127.0.0.1 port=5432 user=nodewise dbname=postgres")
    arguments.add_argument("--most", type=int, default=40, help="permutations of a file at most")
    arguments.add_argument("--show", action="store_true", help="show what differs")
    arguments.add_argument("files", nargs="+")
    said = arguments.parse_args()
    total = collections.Counter()
    for name in said.files:
        path = pathlib.Path(name)
        try:
            spec = Spec(path.read_text())
        except (ValueError, IndexError) as error:
            print(f"{path.stem}: cannot be read: {error}")
            continue
        counts = collections.Counter()
        for steps in spec.all_permutations(said.most):
            verdict, ours, theirs = compare(spec, steps, said.own, said.peer)
            counts[verdict] += 1
            if said.show and verdict not in ("same", "not valid"):
                print(f"  {verdict}: {' '.join(steps)}\n    ours   {ours}\n    theirs {theirs}")
        total += counts
        print(f"{path.stem}: " + ", ".join(f"{count} {it}" for it, count in sorted(counts.items())), flush=True)
    print("all: " + ", ".join(f"{count} {it}" for it, count in sorted(total.items())))
    return 0 if not total["other result"] else 1


if __name__ == "__main__":
    sys.exit(main())

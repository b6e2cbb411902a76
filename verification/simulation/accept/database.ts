import pg from 'pg';
import type { Random } from '../../../packages/server/src/modules/operations/demo/random.ts';
import type { Database } from '../../../packages/server/src/platform/db/database.ts';
import type { Query, Session } from '../../../packages/server/src/platform/db/statements.ts';
import { Wrong } from '../emails/checks.ts';
import { apply, keptName, type Rows, runStore, type Weakness, type Writes } from './rows.ts';

/** Connections of one process to rows in memory. Each statement waits until the scheduler of the simulation runs it. */
export type Wire = { database: Database; ready(): Ask[]; cut(): void };
export type Ask = { what: string; run(): void };

type Open = {
  asks: (Ask & { mayRun: () => boolean; fail: (error: Error) => void })[];
  writes: Writes | null;
  isAborted: boolean;
};
export type World = {
  rows: Rows;
  random: Random;
  now: () => number;
  weakness: Weakness;
  isCalm: () => boolean;
};

export function openWire(world: World): Wire {
  const sessions = new Set<Open>();
  let isCut = false;
  const open = (): Session => {
    const session: Open = { asks: [], writes: null, isAborted: false };
    sessions.add(session);
    return sessionOf(world, session, () => isCut);
  };
  const database = {
    clock: { now: world.now },
    session: () => (isCut ? Promise.reject(new Error('dead')) : Promise.resolve(open())),
    query: (_text: string, values: unknown[]) => Promise.resolve(findAnswers(world.rows, values)),
  } as unknown as Database;
  return {
    database,
    ready: () => [...sessions].flatMap(({ asks: [first] }) => (first?.mayRun() ? [first] : [])),
    cut() {
      isCut = true;
      for (const session of sessions) {
        letGo(world.rows, session);
        for (const ask of session.asks.splice(0)) ask.fail(new Error('dead'));
      }
    },
  };
}

function sessionOf(world: World, session: Open, isCut: () => boolean): Session {
  const ask = (what: string, mayRun: () => boolean, run: () => object[]): Promise<never> =>
    new Promise((resolve, reject) => {
      if (isCut()) return reject(new Error('dead'));
      session.asks.push({
        what,
        mayRun,
        fail: reject,
        run() {
          session.asks.shift();
          try {
            resolve(run() as never);
          } catch (error) {
            if (error instanceof Wrong) world.rows.broken ??= error;
            reject(error);
          }
        },
      });
    });
  return {
    script: (text: string) =>
      text === 'COMMIT'
        ? ask(
            'COMMIT',
            () => true,
            () => commit(world, session),
          )
        : lock(world, session, { text, ask }),
    prepared: ({ values }: Query) =>
      ask(
        'store',
        () => true,
        () => store(world, session, values ?? []),
      ),
    together: <T>(work: () => T) => work(),
    release: () => {},
  } as unknown as Session;
}

type Locking = {
  text: string;
  ask: (what: string, mayRun: () => boolean, run: () => object[]) => Promise<never>;
};

function lock({ rows }: World, session: Open, { text, ask }: Locking): Promise<never> {
  const projects = (/project_id IN \(([\d,]+)\)/.exec(text)?.[1] ?? '').split(',').map(Number);
  const isFree = (): boolean => projects.every((id) => !rows.locks.has(id));
  return ask(`lock ${projects.join(', ')}`, isFree, () => {
    for (const id of projects) rows.locks.set(id, session);
    Object.assign(session, { writes: null, isAborted: false });
    return [];
  });
}

function store({ rows, random, weakness, isCalm }: World, session: Open, values: unknown[]): object[] {
  if (!isCalm() && random.chance(0.05)) {
    session.isAborted = true;
    throw Object.assign(new pg.DatabaseError('deadlock detected', 0, 'error'), { code: '40P01' });
  }
  const { row, writes } = runStore(rows, values, weakness);
  session.writes = writes;
  return [row];
}

/** Commits. A transaction with a refused statement is rolled back. The connection may break before the commit or after it. */
function commit({ rows, random, weakness, isCalm }: World, session: Open): object[] {
  const chance = isCalm() ? 1 : random.next();
  const { writes, isAborted } = session;
  if (chance >= 0.05 && writes && !isAborted) apply(rows, writes, weakness);
  letGo(rows, session);
  if (chance < 0.1) throw new Error('the connection broke');
  return [];
}

function letGo(rows: Rows, session: Open): void {
  for (const [id, holder] of rows.locks) if (holder === session) rows.locks.delete(id);
  session.writes = null;
}

function findAnswers({ kept }: Rows, [projects, keys]: unknown[]): object[] {
  return (projects as number[]).flatMap((projectId, i) => {
    const key = (keys as string[])[i] ?? '';
    const found = kept.get(keptName(projectId, key));
    if (!found) return [];
    const { fingerprint, status, acceptedAt } = found;
    return [{ project_id: projectId, key, fingerprint, status, body: null, accepted_at: acceptedAt }];
  });
}

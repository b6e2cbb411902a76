import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { type Log, silentLog } from '../../../platform/log.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { listWarnings } from './store.ts';
import { warningCounter } from './warnings.ts';
import { iso } from '../../../platform/time/clock.ts';

const clock = fixedClock(Date.UTC(2026, 0, 15, 23, 59, 59));
const db = await openTestDatabase(clock);
let projectId = 0;
beforeEach(() => {
  projectId += 1;
});

test('counts warnings by project, code and UTC day across all processes', async () => {
  const [counter, otherCounter] = [
    warningCounter({ db, clock, log: silentLog }),
    warningCounter({ db, clock, log: silentLog }),
  ];
  for (let i = 0; i < 5; i += 1) counter.note(projectId, 'placeholder_id');
  otherCounter.note(projectId, 'placeholder_id');
  otherCounter.note(projectId, 'key_not_uuid');
  otherCounter.note(projectId + 1_000, 'placeholder_id');
  const evening = iso(clock.now());
  clock.advance(1_000);
  counter.note(projectId, 'placeholder_id');
  await Promise.all([counter.close(), otherCounter.close()]);
  expect(await listWarnings(db, projectId)).toEqual([
    { code: 'placeholder_id', day: '2026-01-16', count: 1, last_at: iso(clock.now()) },
    { code: 'key_not_uuid', day: '2026-01-15', count: 1, last_at: evening },
    { code: 'placeholder_id', day: '2026-01-15', count: 6, last_at: evening },
  ]);
});

test('reports a failed write, and adds its counts to the next one', async () => {
  let broken = true;
  const events: string[] = [];
  const log: Log = { ...silentLog, warn: (_, event) => events.push(event) };
  const tx: Tx = {
    prepared: (query) => db.prepared(query),
    query: (text, values) => (broken ? Promise.reject(new Error('gone')) : db.query(text, values)),
  };
  const counter = warningCounter({ db: tx, clock, log });
  counter.note(projectId, 'placeholder_id');
  const failing = counter.flush();
  counter.note(projectId, 'placeholder_id');
  await failing;
  expect(events).toEqual(['warnings.not_written']);
  broken = false;
  await counter.close();
  await counter.close();
  expect(await listWarnings(db, projectId)).toMatchObject([{ count: 2 }]);
});

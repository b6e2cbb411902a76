import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openJournal } from '../journal.ts';
import { event, sampleFacts, QUIET_AT, requestEntries } from './sample-facts.ts';
import { readHistory } from './read-journals.ts';

test('merges the journals of several processes into one history, and ignores an incomplete last line', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'beckon-journals-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'world.json'), JSON.stringify(sampleFacts().world));
  const [load, faults] = [openJournal(dir, 'load'), openJournal(dir, 'faults')];
  const tries = [
    ...requestEntries({ request: 'one', path: 'events', body: event('login', {}), from: 1, until: null }),
    ...requestEntries({
      request: 'one',
      path: 'events',
      body: event('login', {}),
      from: 2,
      until: 3,
      intent: 'retry',
    }),
  ];
  for (const entry of tries.toReversed()) load.write(entry);
  faults.write({ kind: 'quiet', at: QUIET_AT });
  load.close();
  faults.close();
  appendFileSync(join(dir, 'load.jsonl'), '{"kind":"begin","at":1,"id":"tor');
  const history = await readHistory(dir);
  expect(history.quietAt).toBe(QUIET_AT);
  expect(history.requests).toHaveLength(1);
  expect(history.requests[0]?.attempts.map(({ intent, answer }) => [intent, answer?.status ?? null])).toEqual(
    [
      ['normal', null],
      ['retry', 202],
    ],
  );
});

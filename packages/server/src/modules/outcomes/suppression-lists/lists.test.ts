import { beforeEach, describe, expect, test } from 'vitest';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { suppressionLists } from '../../../../testing/factories/suppression-lists.ts';
import { liftSuppressions } from '../suppressions/store.ts';
import { RECIPIENT_REASONS } from '../suppressions/entries.ts';

const stage = await openStage();
const { db } = stage.server;

let scenario: Scenario;
beforeEach(async () => {
  scenario = await newScenario(stage);
});
const { add, list, importList, exportList } = suppressionLists(db, () => scenario);

const NOTHING = {
  rows: 0,
  added: 0,
  already_suppressed: 0,
  already_ended: 0,
  drafts: 0,
  runs: 0,
  rejected: 0,
  problems: [],
};

/** Returns the list after recipients withdrew their own choices. */
async function afterResubscribing(...values: string[]): Promise<[string | null, string][]> {
  const targets = values.map((value) => ({ projectId: scenario.projectId, kind: 'email' as const, value }));
  await liftSuppressions(db, { targets, reasons: RECIPIENT_REASONS, at: scenario.now(), by: 'recipient' });
  return (await list()).map(({ value, reason }) => [value, reason]);
}

describe('importSuppressions', () => {
  test('reads one address per line, or columns in any order with the reasons of other senders', async () => {
    const plain = await importList('\uFEFFAda@X.org\r\n\r\n bob@Bücher.example ,unsubscribed,2026-01-02\r\n');
    expect(plain).toEqual({ ...NOTHING, rows: 2, added: 2 });
    const named =
      'Reason,noted by,E-Mail,Created At\nspam complaint,x,"eve@x.org",2026-01-02T03:04:05Z\nBounced,y,mal@x.org,\n';
    expect(await importList(named, { reason: 'unsubscribed' })).toMatchObject({ rows: 2, added: 2 });
    const timed = 'user,until\n=u 1,2099-01-01\n"a,""b"\n';
    expect(await importList(timed, { reason: 'snoozed' })).toMatchObject({ added: 1, rejected: 1 });
    expect(await list()).toMatchObject([
      { kind: 'email', value: 'ada@x.org', reason: 'manual', created_by: 'operator' },
      { value: 'bob@xn--bcher-kva.example', reason: 'unsubscribed', created_at: '2026-01-02T00:00:00.000Z' },
      { value: 'eve@x.org', reason: 'complained', created_at: '2026-01-02T03:04:05.000Z' },
      { value: 'mal@x.org', reason: 'hard_bounce' },
      { kind: 'user', value: '=u 1', reason: 'snoozed', until: '2099-01-01T00:00:00.000Z' },
    ]);
  });

  test('reports each rejected row with its line and column, and imports the rest', async () => {
    const text = [
      'email,user,reason,until,created_at',
      'good@x.org,,,,',
      'no address,,,,',
      'a@x.org,u1,,,',
      'a@x.org,,because,,',
      'a@x.org,,,soon,',
      'a@x.org,,snoozed,,',
      'a@x.org,,,,2999-01-01',
      'over@x.org,,snoozed,2020-01-01,',
    ].join('\n');
    const { problems, ...counts } = await importList(text);
    expect(counts).toMatchObject({ rows: 8, added: 1, already_ended: 1, rejected: 6 });
    expect(problems.map(({ line, field }) => [line, field])).toEqual([
      [3, 'email'],
      [4, 'user'],
      [5, 'reason'],
      [6, 'until'],
      [7, 'until'],
      [8, 'created_at'],
    ]);
    expect((await list()).map(({ value }) => value)).toEqual(['good@x.org']);
  });

  test('counts in a dry run what the import does, and changes nothing', async () => {
    await scenario.user('ada', { email: 'ada@x.org' });
    await scenario.user('bob', { email: 'bob@x.org' });
    await scenario.event('ada', 'user_signed_up');
    await scenario.event('bob', 'user_signed_up');
    await scenario.later(HOUR);
    const text = `ada@x.org\nADA@x.org\n${Array.from({ length: 2_500 }, (_, i) => `p${i}@x.org`).join('\n')}\np7@x.org\n`;
    const counts = { ...NOTHING, rows: 2_503, added: 2_501, already_suppressed: 2, drafts: 1, runs: 1 };
    expect(await importList(text, { dryRun: true })).toEqual(counts);
    expect(await list()).toEqual([]);
    expect((await scenario.drafts()).map(({ state }) => state)).toEqual(['scheduled', 'scheduled']);
    expect(await importList(text)).toEqual(counts);
    expect(await scenario.drafts('ada')).toMatchObject([{ state: 'canceled', reason: 'suppressed' }]);
    expect(await scenario.drafts('bob')).toMatchObject([{ state: 'scheduled', reason: null }]);
    // An interrupted import is started again.
    expect(await importList(text)).toEqual({ ...NOTHING, rows: 2_503, already_suppressed: 2_503 });
  });

  test('does not weaken a stronger suppression', async () => {
    await add({ email: 'a@x.org' }, 'unsubscribed');
    await importList('email,reason,until\na@x.org,hard_bounce,\na@x.org,snoozed,2099-01-01\n');
    expect(await list()).toMatchObject([{ value: 'a@x.org', reason: 'unsubscribed', until: null }]);
  });

  test('rejects rows that cannot be read', async () => {
    expect(await importList('a@x.org\n"b@x.org\nc@x.org\n')).toMatchObject({
      rows: 3,
      added: 2,
      rejected: 1,
      problems: [{ line: 2, message: expect.stringContaining('a quote in it is never closed') as string }],
    });
    expect(await importList('')).toEqual(NOTHING);
    expect(await importList(Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x80]))).toMatchObject({
      added: 0,
      rejected: 2,
      problems: [
        { line: 1, message: 'This row is not UTF-8 text' },
        { line: 2, message: 'This row is not UTF-8 text' },
      ],
    });
  });

  test('keeps two reasons of one address, also in a dry run', async () => {
    const text = 'a@x.org,unsubscribed\na@x.org,manual\nb@x.org,manual\nb@x.org,unsubscribed\n';
    const counts = { rows: 4, added: 2, already_suppressed: 2 };
    await add({ email: 'b@x.org' }, 'hard_bounce');
    expect(await importList(text, { dryRun: true })).toMatchObject(counts);
    expect(await importList(text)).toMatchObject(counts);
    expect(await importList(text, { dryRun: true })).toMatchObject({ added: 0, already_suppressed: 4 });
    expect(await list()).toMatchObject([{ reason: 'unsubscribed' }, { reason: 'unsubscribed' }]);
    expect(await afterResubscribing('a@x.org', 'b@x.org')).toEqual([
      ['a@x.org', 'manual'],
      ['b@x.org', 'manual'],
    ]);
  });

  test('counts an address with a weaker suppression as added, also in a dry run', async () => {
    await add({ email: 'a@x.org' }, 'manual');
    const text = 'a@x.org,manual\na@x.org,unsubscribed\n';
    const counts = { rows: 2, added: 1, already_suppressed: 1 };
    expect(await importList(text, { dryRun: true })).toMatchObject(counts);
    expect(await importList(text)).toMatchObject(counts);
  });
});

describe('exportSuppressions', () => {
  test('writes a list that imports to the same list', async () => {
    const users = ['=1+1', 'a "quoted", id', '\n', ' x ', '😀'];
    for (const user of users) await add({ user }, 'complained');
    await add({ email: 'a@x.org' }, 'snoozed', '2099-01-01T00:00:00Z');
    const before = await list();
    const text = await exportList();
    expect(text.split('\n')[0]).toBe('email,user,reason,until,created_at,hash,hash_key,created_by');
    const [first = ''] = (await exportList('ndjson')).split('\n');
    expect(JSON.parse(first)).toMatchObject({ email: 'a@x.org', user: null, reason: 'snoozed' });
    scenario = await newScenario(stage);
    expect(await importList(text)).toMatchObject({ added: 6, rejected: 0 });
    expect(await list()).toEqual(before);
  });

  test('writes every reason of an address, the one in force first', async () => {
    await add({ email: 'a@x.org' }, 'manual', '2099-01-01T00:00:00Z');
    await add({ email: 'a@x.org' }, 'hard_bounce');
    await add({ email: 'a@x.org' }, 'snoozed', '2098-01-01T00:00:00Z');
    await add({ email: 'b@x.org' }, 'unsubscribed');
    expect(await list()).toMatchObject([{ reason: 'hard_bounce' }, { reason: 'unsubscribed' }]);
    const text = await exportList();
    expect(text.match(/hard_bounce|manual|snoozed|unsubscribed/g)).toEqual([
      'hard_bounce',
      'manual',
      'snoozed',
      'unsubscribed',
    ]);
    scenario = await newScenario(stage);
    expect(await importList(text)).toMatchObject({ rows: 4, added: 2, already_suppressed: 2 });
    expect(await exportList()).toBe(text);
  });
});

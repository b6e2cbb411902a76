import { beforeAll, describe, expect, test } from 'vitest';
import { testCases } from '../../testkit/cases.ts';
import { testShell } from '../../testkit/shell.ts';
import { testWorld } from '../../testkit/world.ts';
import { idMaker } from '../../../server/src/platform/ids.ts';
import { silentLog } from '../../../server/src/platform/log.ts';
import { insertReply } from '../../../server/src/modules/inbound/replies/store.ts';
import { recordOutcomes } from '../../../server/src/modules/outcomes/record/record-outcomes.ts';

const world = await testWorld();
const { db } = world.server;
const newId = idMaker(db.clock);
const local = testShell({ DATA_DIR: await world.localSocket() });

let sandbox = testShell();
let projectId = 0;
let email = '';

/** Creates a draft in the sandbox, whose clock `clock advance` moves past its deadline. */
async function draftFor(user: string): Promise<void> {
  const tail = local.start(['tail', '--json', 'type:draft', `user:${user}`]);
  await tail.waitFor('Following');
  await sandbox.json(['trigger', 'user_signed_up', '--user', user, '--email', `${user}@example.com`]);
  await tail.waitFor('"scheduled"');
  tail.interrupt();
  await tail.ended;
}

beforeAll(async () => {
  await local.json(['settings', 'set', 'sandbox=on', '--project', 'Acme']);
  const all = (await local.json(['projects', 'list'])) as { id: number; sandbox_of: number | null }[];
  projectId = all.find(({ sandbox_of }) => sandbox_of !== null)?.id ?? 0;
  local.env['BECKON_PROJECT'] = String(projectId);
  const { secret } = (await local.json(['keys', 'create', '--name', 'sandbox'])) as { secret: string };
  sandbox = testShell({ BECKON_URL: world.url, BECKON_API_KEY: secret });
  await draftFor('u1');
  await local.json(['clock', 'advance', '3d']);
  const [sent] = (await local.json(['emails', 'list'])) as { id: string; draft_id: string }[];
  email = sent?.id ?? '';
  const at = db.clock.now() + 3 * 86_400_000;
  await recordOutcomes({ db, newId, log: silentLog }, [
    { projectId, emailId: email, occurredAt: at, type: 'email.opened', bot: 'no', botReason: null },
  ]);
  await insertReply(db, {
    projectId,
    id: newId(),
    emailId: email,
    draftId: sent?.draft_id ?? '',
    userId: 'u1',
    inboundId: newId(),
    kind: 'reply',
    verified: 'recipient',
    receivedAt: at,
    fromAddress: 'u1@example.com',
    fromName: 'Ada',
    subject: 'Re: Welcome',
    text: 'Thanks',
    forwardAt: null,
    raw: null,
  });
}, 60_000);

describe('emails', () => {
  testCases(local, [
    { run: 'emails list', shows: /sent +welcome +u1 +Welcome to Acme +opened/, json: [{ state: 'sent' }] },
    { run: 'emails list state:failed', shows: /No matches for this filter/, json: [] },
    { run: 'emails list --project Acme', shows: /No emails yet\. .*beckon drafts list/, json: [] },
    { run: 'emails list state:lost', fails: [2, /state/] },
    {
      run: () => `emails show ${email}`,
      shows:
        /address +u1@example\.com\nuser +u1[^]*Outcomes\n.*\n.*opened +human[^]*Replies\n.*\n.*u1@example\.com/,
      json: { subject: 'Welcome to Acme' },
    },
    { run: 'emails show x', fails: [1, /./] },
    { run: () => `emails raw ${email}`, shows: /^Subject: Welcome to Acme/m },
    { run: () => `emails raw ${email} --out welcome.eml`, shows: /Wrote [\d,]+ bytes to welcome\.eml/ },
    { run: 'emails export', shows: /^id,claimed_at,.*\n.*Welcome to Acme/ },
    { run: 'emails export state:failed', shows: /^id,[^\n]*\s*$/ },
  ]);
});

describe('test-inbox', () => {
  testCases(local, [
    { run: 'test-inbox list', shows: /u1@example\.com +Welcome to Acme +u1/, json: [{ copies: 1 }] },
    { run: 'test-inbox list --user u2', shows: /No matches/, json: [] },
    { run: 'test-inbox list --project Acme', shows: /No emails in the test inbox\. .*SMTP_URL/, json: [] },
    {
      run: () => `test-inbox show ${email}`,
      shows: /subject +Welcome to Acme[^]*check mime +ok: [^]*check links +warning: /,
      json: { id: expect.any(String), checks: expect.any(Array) },
    },
    { run: () => `test-inbox show ${email} --text`, shows: /^Hi there,[^<]*Unsubscribe/ },
    { run: () => `test-inbox show ${email} --html`, shows: /^\s*<!doctype html/i },
    { run: () => `test-inbox show ${email} --raw`, shows: /^Subject: Welcome to Acme/m },
    { run: () => `test-inbox show ${email} --raw --html`, fails: [2, /one of --text, --html and --raw/] },
    { run: 'test-inbox show x', fails: [1, /./] },
    { run: 'test-inbox clear', fails: [2, /Delete all emails in the test inbox of .*--yes/] },
    { run: 'test-inbox clear --older soon --yes', fails: [2, /older/] },
    { run: 'test-inbox clear --older 30d', answers: [true], shows: /Deleted 0 emails/ },
    { run: 'test-inbox clear --yes', json: { cleared: 1 } },
  ]);
});

describe('replies', () => {
  let reply = '';
  testCases(local, [
    {
      run: 'replies list',
      shows: /u1@example\.com +u1 +Re: Welcome +no +no/,
      json: [{ subject: 'Re: Welcome' }],
      keep: ([found]: [{ id: string }]) => (reply = found.id),
    },
    { run: 'replies list --user u2', json: [] },
    { run: 'replies list --project Acme', shows: /No replies yet\.[^]*reply_forward_to=/ },
    {
      run: () => `replies show ${reply}`,
      shows: /reply to +“Welcome to Acme”[^]*from +Ada <u1@example\.com>[^]*\nThanks/,
      json: { thread: [{ text: 'Thanks' }] },
    },
    { run: 'replies show x', fails: [1, /./] },
    { run: () => `replies forward ${reply}`, fails: [1, /reply_forward_to/] },
    { run: 'settings set reply_forward_to=team@example.com', json: {} },
    { run: () => `replies forward ${reply}`, shows: /is forwarded by the next run/ },
  ]);
});

describe('insights', () => {
  testCases(local, [
    {
      run: 'insights',
      shows: /rule +sent .*\nwelcome +1 +1 \(100\.0%\) +1 \(100\.0%\)/,
      json: { by: 'rule' },
    },
    { run: 'insights --by template --compare', json: { by: 'template', before: {} } },
    { run: 'insights --project Acme --since 7d', shows: /No emails were sent in this period: / },
    { run: 'insights --csv', shows: /^by,name,sent.*\nrule,welcome,1/ },
    { run: 'insights --by color', fails: [2, /rule, template, domain, provider/] },
    { run: 'insights --since 400d', fails: [2, /366/] },
  ]);
});

describe('resume', () => {
  test('asks before it sends more than 100 drafts that were held for more than a day', async () => {
    await draftFor('u2');
    expect((await local.run(['pause'])).out).toMatch(/This holds \d drafts? of the next 24 hours/);
    await db.query(
      `INSERT INTO beckon.draft SELECT (d).* FROM (SELECT jsonb_populate_record(d, jsonb_build_object(
           'id', gen_random_uuid(), 'run_id', NULL, 'external_user_id', 'x' || n)) AS d
         FROM beckon.draft d, generate_series(1, 100) n WHERE d.project_id = $1 AND d.external_user_id = 'u2') d`,
      [projectId],
    );
    await local.json(['clock', 'advance', '48h']);
    const result = await local.run(['resume']);
    expect([result.code, result.err]).toEqual([
      2,
      expect.stringMatching(/10\d were held for more than a day\..*--yes/),
    ]);
    expect(await local.json(['resume', '--yes'])).toMatchObject({
      paused: false,
      postponed: expect.any(Number),
    });
  });
});

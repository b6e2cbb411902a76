import { describe, expect, test } from 'vitest';
import { testCases } from '../../testkit/cases.ts';
import { testShell } from '../../testkit/shell.ts';
import { testWorld } from '../../testkit/world.ts';
import { systemClock } from '../../../server/src/platform/time/clock.ts';
import { silentLog } from '../../../server/src/platform/log.ts';
import { warningCounter } from '../../../server/src/modules/ingest/warnings/warnings.ts';

const world = await testWorld();
const { db } = world.server;
const local = testShell({ DATA_DIR: await world.localSocket() });
const admin = testShell({ BECKON_URL: world.url, BECKON_TOKEN: await world.tokenFor(['read', 'admin']) });
const sending = testShell({ BECKON_URL: world.url, BECKON_API_KEY: world.apiKey });

describe('settings', () => {
  testCases(local, [
    {
      run: 'settings show',
      shows: /quiet_hours +\S+ +\S+ +/,
      json: { settings: expect.arrayContaining([expect.objectContaining({ name: 'autopilot' })]) },
    },
    {
      run: 'settings set quiet_hours=22:00-07:00 autopilot=3h',
      shows: /^autopilot +3h\nquiet_hours +22:00-07:00\n$|^quiet_hours +22:00-07:00\nautopilot +3h\n$/,
      json: { parsed: { autopilot_ms: 10_800_000 } },
    },
    { run: 'settings set quiet_hours', fails: [2, /write name=value/] },
    { run: 'settings set quiet_hours=soon', fails: [2, /quiet_hours/] },
    { run: 'settings set quite_hours=off', fails: [2, /quite_hours/] },
    { run: 'settings sender', shows: /Sender +test inbox: yes/, json: { sender: { test_inbox: true } } },
  ]);
});

describe('policy', () => {
  testCases(local, [
    {
      run: 'policy simulate quiet_hours=off',
      shows: /^sent without a decision +0\n[^]*No draft changes/,
      json: { drafts: 0 },
    },
    { run: 'policy simulate sender=x', fails: [2, /sender is not one of quiet_hours/] },
    { run: 'policy simulate throttle=fast', fails: [2, /throttle/] },
  ]);
});

describe('rate-limits', () => {
  testCases(local, [
    { run: 'rate-limits list', shows: /users-bulk +\d+ +\d+/ },
    { run: 'rate-limits set users-bulk --rate 2.5', shows: /users-bulk: 2\.5 requests per second/ },
    { run: 'rate-limits set users-bulk --burst 40', json: { rate: 2.5, burst: 40 } },
    { run: 'rate-limits set users', fails: [2, /one of --rate, --burst/] },
    { run: 'rate-limits set users --rate fast', fails: [2, /--rate must be a number/] },
    { run: 'rate-limits set nothing --rate 2', fails: [2, /./] },
  ]);
});

describe('pause and resume', () => {
  testCases(local, [
    { run: 'resume', fails: [1, /./] },
    { run: 'pause', shows: /Sending is paused\. This holds 0 drafts of the next 24 hours/ },
    { run: 'pause', shows: /already paused/, json: { paused: true } },
    { run: 'resume', shows: /Sending is resumed\. 0 expired drafts canceled/ },
  ]);
});

describe('queue and dead-letters', () => {
  /** Adds records that could not be processed. */
  async function fail(...users: string[]): Promise<void> {
    for (const user of users)
      await db.query(
        `WITH taken AS (UPDATE beckon.ingest_queue_state SET next_seq = next_seq + 1 WHERE project_id = $1 RETURNING next_seq - 1 AS seq)
         INSERT INTO beckon.dead_letter SELECT $1, seq, 'live', 'users', jsonb_build_object('external_user_id', $2::text), 'bad', now(), now() FROM taken`,
        [world.projectId, user],
      );
  }
  let [first, second]: number[] = [];
  testCases(local, [
    { run: 'queue show', shows: /No records wait in any project/, json: [] },
    { run: 'dead-letters list', shows: /No dead-lettered records/, json: [] },
    { run: 'dead-letters retry', json: { retried: 0 } },
  ]);
  test('are filled', () => fail('u1', 'u2'));
  testCases(local, [
    { run: 'queue show', shows: /Acme +0 +0 +0 ms +2/, json: [{ dead_letters: 2 }] },
    {
      run: 'dead-letters list',
      shows: /users +live +bad .*"external_user_id":"u1"/,
      keep: (rows: { seq: number }[]) => ([first, second] = rows.map(({ seq }) => seq)),
    },
    { run: () => `dead-letters discard ${first}`, fails: [2, /--reason/] },
    {
      run: () => `dead-letters discard ${first} --reason other`,
      fails: [2, /Discard 1 record permanently\? .*--yes/],
    },
    {
      run: () => `dead-letters discard ${first} --reason other`,
      answers: [true],
      shows: /Discarded 1 record\./,
    },
    { run: 'dead-letters retry one', fails: [2, /one is not a sequence number/] },
    { run: () => `dead-letters retry ${second}`, shows: /1 record waits for processing again/ },
  ]);
});

describe('requests and warnings', () => {
  testCases(local, [
    { run: 'requests list', shows: /No requests yet/, json: [] },
    { run: 'warnings list', shows: /No warnings/, json: [] },
  ]);
  test('are counted', async () => {
    const tail = local.start(['tail', 'type:request', '--json']);
    await tail.waitFor('Following');
    await sending.json(['track', 'u1', 'signed_in']);
    await tail.waitFor('"accepted":1');
    tail.interrupt();
    const warnings = warningCounter({ db, clock: systemClock, log: silentLog });
    warnings.note(world.projectId, 'placeholder_user_id');
    await warnings.close();
  });
  testCases(local, [
    {
      run: 'requests list endpoint:events',
      shows: /events +202 +ok +1 +1 +0 +server/,
      json: [{ accepted: 1 }],
    },
    { run: 'requests list status:500', shows: /No matches/, json: [] },
    { run: 'requests list color:red', fails: [2, /color/] },
    { run: 'warnings list', shows: /placeholder.user.id +1/, json: [{ count: 1 }] },
  ]);
});

describe('views', () => {
  let id = '';
  testCases(local, [
    { run: 'views list', shows: /No saved views yet/, json: [] },
    {
      run: 'views create Trials plan:trial -audience:paying',
      json: { filter: 'plan:trial -audience:paying' },
      keep: (view: { id: string }) => (id = view.id),
    },
    { run: 'views create Trials plan:pro', fails: [1, /Trials/] },
    { run: 'views create Everyone', fails: [2, /filter/] },
    { run: 'views create Paying plan:pro', shows: /Saved view Paying/ },
    { run: 'views create Red color:red', fails: [2, /color/] },
    { run: 'views list', shows: /Trials +plan:trial -audience:paying/ },
    { run: () => `views delete ${id}`, fails: [2, /All members of the project lose it\. Pass --yes/] },
    { run: () => `views delete ${id} --yes`, shows: /Deleted view Trials/ },
    { run: 'views delete x --yes', fails: [1, /./] },
  ]);
});

describe('system', () => {
  testCases(local, [
    {
      run: 'system show',
      shows: /version +0\.0\.0[^]*Jobs\nname +next +late\n[^]*Tables\nname +bytes +rows\n/,
      json: { version: '0.0.0' },
    },
    { run: 'system retention', shows: /keep_events +\S+/, json: { erasures_waiting: 0 } },
    { run: 'system erasures', shows: /No user was erased yet/, json: [] },
    { run: 'system support-bundle', shows: /"installed"/, json: { installed: {} } },
    { run: 'system send-test', fails: [3, /The local shell has no account/] },
  ]);
  testCases(admin, [
    { run: 'system send-test', shows: /test email to ada@x\.org\. It is in the test inbox/ },
  ]);
});

import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { AuditListed, DeadLetter, DraftListed } from '@beckon/contract/dashboard';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { findText } from '../../../../testing/oracles/find-text.ts';
import { newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';

const stage = await openStage();
const { db } = stage.server;
const dashboard = testDashboard(db, {
  openRelay: () =>
    Promise.resolve({
      submit: () => Promise.resolve({ result: 'sent', reply: '250 kept', relayId: null } as never),
    }),
});
afterAll(() => dashboard.close());

const USER = 'needleuser';
const EMAIL = 'needle.address@needle.test';
/** Typed by a member wherever text about a user can be typed. */
const TYPED = 'needletext about Needlename';
const DRAFT_STEP = { draft: { subject: 'Hello', body: 'You' } };
const TEMPLATE = { format: 'markdown', subject: 'Hello', preheader: '', body: 'You' };

let scenario: Scenario;
let at: string;
beforeEach(async () => {
  scenario = await newScenario(stage);
  at = `/projects/${scenario.projectId}`;
});

const request = <T>(what: string, body?: object) => {
  const [method, path = ''] = what.split(' ');
  return dashboard.request<T>(`${method} ${at}${path}`, body === undefined ? {} : { body });
};

async function requestOk<T>(what: string, body?: object): Promise<T> {
  const { status, json } = await request<T>(what, body);
  expect([what, status]).toEqual([what, 200]);
  return json.data;
}

async function draft(event: string): Promise<string> {
  await scenario.rule({ name: event, when: { event }, enrollment: 'once', steps: [DRAFT_STEP] });
  await scenario.event(USER, event);
  await scenario.later(1_000);
  const found = (await requestOk<DraftListed[]>('GET /drafts')).find(({ rule }) => rule.name === event);
  if (!found) throw new Error('no draft was made');
  return found.id;
}

async function die(): Promise<number> {
  await db.query(
    `WITH taken AS (UPDATE beckon.ingest_queue_state SET next_seq = next_seq + 1 WHERE project_id = $1 RETURNING next_seq - 1 AS seq)
     INSERT INTO beckon.dead_letter SELECT $1, seq, 'live', 'users', jsonb_build_object('external_user_id', $2::text), 'bad', $3, $3 FROM taken`,
    [scenario.projectId, USER, new Date(scenario.now())],
  );
  const [dead] = await requestOk<DeadLetter[]>('GET /dead-letters');
  return dead?.seq ?? 0;
}

/** Performs every action in which a member names a user, or writes about one. */
async function actOnUser(): Promise<void> {
  await scenario.set({ autopilot: '4h' });
  await scenario.user(USER, { email: EMAIL, traits: { name: 'Needlename' } });

  await requestOk(`POST /drafts/${await draft('first')}/skip`, { reason: TYPED });
  const edited = await draft('second');
  await requestOk(`POST /drafts/${edited}/edit`, { subject: TYPED });
  await requestOk(`POST /drafts/${edited}/send-test`, { to: EMAIL });
  await requestOk('POST /drafts/bulk', { action: { kind: 'skip', reason: TYPED }, filter: `user:${USER}` });
  await requestOk('POST /templates', { name: 'greeting', source: TEMPLATE });
  await requestOk('POST /templates/greeting/send-test', { to: EMAIL });

  await requestOk('POST /views', { screen: 'users', name: USER, filter: `email:${EMAIL}` });
  await requestOk('POST /suppressions', { email: EMAIL });
  const lift = { email: EMAIL, confirm: EMAIL };
  const [typed, chosen] = [
    await request('POST /suppressions/remove', { ...lift, reason: TYPED }),
    await request('POST /suppressions/remove', { ...lift, reason: 'user_request' }),
  ];
  expect([typed.status, typed.json.errors[0]?.field, chosen.status]).toEqual([422, 'reason', 200]);
  await requestOk('POST /users/suppress', { users: [USER] });

  const seqs = [await die()];
  expect((await request('POST /dead-letters/discard', { seqs, reason: TYPED })).status).toBe(422);
  await requestOk('POST /dead-letters/discard', { seqs, reason: 'invalid_data' });

  const domain = `mail${scenario.projectId}.acme.test`;
  await requestOk('POST /domains', { name: domain });
  await requestOk(`POST /domains/${domain}/pause`, { reason: TYPED });
  await requestOk(`POST /domains/${domain}/resume`);
}

describe('audit log', () => {
  test('holds no text about an erased user, and no other column does', async () => {
    await actOnUser();
    const needles = [USER, EMAIL, TYPED, 'needletext', 'Needlename'];
    expect(await findText(db, needles)).toEqual(
      expect.arrayContaining(['draft.reason', 'suppression.value']),
    );
    await requestOk(`POST /users/${USER}/erase`, { confirm: USER });
    await scenario.later(1_000);
    expect(await findText(db, needles)).toEqual([]);
  });

  test('keeps the action, whether a reason was given, and which reason was chosen', async () => {
    await actOnUser();
    const kept = await requestOk<AuditListed[]>('GET /audit?scope=project&limit=100');
    const after = (action: string) =>
      kept.filter((entry) => entry.action === action).map((entry) => entry.after);
    expect(after('draft.skip')).toMatchObject([{ state: 'skipped', has_reason: true }]);
    expect(after('draft.send_test')).toEqual([{ to: 'an address at needle.test' }]);
    expect(after('template.send_test')).toEqual([{ to: 'an address at needle.test' }]);
    expect(after('suppression.remove')).toEqual([{ reason: 'user_request' }]);
    expect(after('dead_letter.discard')).toEqual([{ discarded: 1, reason: 'invalid_data' }]);
    expect(after('domain.pause')).toEqual([{ has_reason: true }]);
  });
});

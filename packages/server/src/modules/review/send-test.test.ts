import PostalMime from 'postal-mime';
import { describe, expect, test } from 'vitest';
import { testSendServices, TOKEN_KEYS } from '../../../testing/factories/send-services.ts';
import { newScenario, openStage } from '../../../testing/scenario.ts';
import { idMaker } from '../../platform/ids.ts';
import { insertOrganization, upsertMember, upsertUser } from '../workspace/members/store.ts';
import type { MailEnvelope } from '../../platform/mail/submit.ts';
import { receiveMail } from './test-inbox/test-inbox.ts';
import type { SendServices } from '../delivery/send-services.ts';
import { sendTest } from './send-test.ts';

const stage = await openStage();
const { db } = stage.server;

async function withDraft(traits: Record<string, unknown> = { name: 'Ada' }) {
  const scenario = await newScenario(stage);
  await scenario.user('ada', { email: 'ada@x.org', traits });
  await scenario.event('ada', 'user_signed_up');
  await stage.engine.settle();
  const [draft] = await scenario.drafts('ada');
  if (!draft) throw new Error('no email was drafted');
  const submitted: { envelope: MailEnvelope; mime: Uint8Array }[] = [];
  const send = (to: string, sendServices: Partial<SendServices> = {}) =>
    sendTest(
      {
        db,
        sendServices: testSendServices(sendServices),
        tokenKeys: TOKEN_KEYS,
        newId: idMaker(db.clock),
        relays: {
          openRelayTransport: () => {
            throw new Error('this project has no relay');
          },
          openRelay: () =>
            Promise.resolve({
              submit(envelope, mime) {
                submitted.push({ envelope, mime });
                return Promise.resolve({ result: 'sent', reply: '250 ok', relayId: null });
              },
            }),
        },
      },
      { projectId: scenario.projectId, draftId: draft.id },
      to,
    );
  return { scenario, draft, handed: submitted, send };
}

const relay = { outlet: { kind: 'relay', publicUrl: 'https://beckon.example', mailDomain: null } } as const;

test('sends the email of the draft, marked as a test, and leaves the draft unchanged', async () => {
  const { scenario, draft, handed: submitted, send } = await withDraft();
  expect(await send('team@acme.example')).toMatchObject({ subject: `[Test] ${draft.content.subject}` });
  const [email] = submitted;
  expect(email?.envelope).toMatchObject({ to: 'team@acme.example' });
  const mail = await PostalMime.parse(email?.mime ?? '');
  expect(mail.text).toContain('Hi Ada,');
  expect(mail.to).toEqual([{ name: '', address: 'team@acme.example' }]);
  expect(await scenario.drafts('ada')).toEqual([draft]);
});

test('a test copy has the locale of the user whom the draft is for', async () => {
  const { handed: submitted, send } = await withDraft({ locale: 'nl' });
  await send('team@acme.example');
  const mail = await PostalMime.parse(submitted[0]?.mime ?? '');
  expect(mail.html).toContain('<html lang="nl" dir="ltr" ');
  expect(mail.text).toContain('Afmelden of voorkeuren wijzigen');
});

test('stores every test as a separate copy in the test inbox of its user', async () => {
  const { scenario, draft, handed: submitted, send } = await withDraft();
  await send('team@acme.example');
  await send('team@acme.example');
  for (const { envelope, mime } of submitted)
    await receiveMail({ db, tokenKeys: TOKEN_KEYS }, { from: envelope.from, to: [envelope.to], raw: mime });
  const kept = await db.query(
    `SELECT draft_id, external_user_id, copy FROM beckon.test_inbox_email WHERE project_id = $1`,
    [scenario.projectId],
  );
  expect(kept).toEqual([
    { draft_id: draft.id, external_user_id: 'ada', copy: 1 },
    { draft_id: draft.id, external_user_id: 'ada', copy: 1 },
  ]);
});

test('sends tests by a relay only to the team, and only from a valid sender', async () => {
  const { scenario, handed: submitted, send } = await withDraft();
  await expect(send('eve@evil.example', relay)).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(send('not an address', relay)).rejects.toMatchObject({ code: 'validation_failed' });
  await scenario.set({ team_addresses: 'team@acme.example' });
  await expect(send('team@acme.example', relay)).rejects.toMatchObject({ code: 'conflict' });
  expect(submitted).toEqual([]);
});

describe('checkRecipient', () => {
  test('accepts a member of the organization, but no member of another one', async () => {
    const { scenario, send } = await withDraft();
    const at = new Date(db.clock.now());
    for (const [id, email] of [
      [`own-${scenario.projectId}`, 'grace@acme.example'],
      [`other-${scenario.projectId}`, 'eve@evil.example'],
    ] as const) {
      await insertOrganization(db, { id, name: id, createdAt: at });
      await upsertUser(db, { id: `${id}-user`, name: 'x', email, at });
      await upsertMember(db, { organizationId: id, userId: `${id}-user`, role: 'viewer', at });
    }
    const belongs = `UPDATE beckon.project SET organization_id = $2 WHERE project_id = $1`;
    await db.query(belongs, [scenario.projectId, `own-${scenario.projectId}`]);
    // The sender has no domain yet, which is checked after the recipient.
    await expect(send('Grace@acme.example', relay)).rejects.toMatchObject({ code: 'conflict' });
    await expect(send('eve@evil.example', relay)).rejects.toMatchObject({ code: 'validation_failed' });
  });
});

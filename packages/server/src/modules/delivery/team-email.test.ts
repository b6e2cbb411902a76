import PostalMime from 'postal-mime';
import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { testSendServices, TOKEN_KEYS } from '../../../testing/factories/send-services.ts';
import { idMaker } from '../../platform/ids.ts';
import type { SendResult } from '../../platform/mail/send-result.ts';
import type { MailEnvelope } from '../../platform/mail/submit.ts';
import {
  insertOrganization,
  updateWantsDigest,
  upsertMember,
  upsertUser,
} from '../workspace/members/store.ts';
import { createProject } from '../administration/create-project.ts';
import { receiveMail } from '../review/test-inbox/test-inbox.ts';
import { setSettings } from '../administration/set-settings.ts';
import { createTeamTransport, type TeamMailOptions } from './team-email.ts';

const db = await openTestDatabase(fixedClock());

const EMAIL = {
  subject: 'Acme: 2 drafts wait',
  text: 'Look at them: https://beckon.example/review?a=1&b=2\n<script>',
};
const { outlet: TEST_INBOX } = testSendServices();
const RELAY = { kind: 'relay', publicUrl: 'https://beckon.example', mailDomain: null } as const;
let projectId = 0;
let submissions: { envelope: MailEnvelope; mime: Uint8Array }[] = [];
let says: (to: string) => SendResult;
beforeEach(async () => {
  submissions = [];
  says = () => ({ result: 'sent', reply: '250 ok', relayId: null });
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

const submitEmail = (more: Partial<TeamMailOptions> = {}) =>
  createTeamTransport({
    db,
    outlet: TEST_INBOX,
    mailFrom: null,
    tokenKeys: TOKEN_KEYS,
    newId: idMaker(db.clock),
    relay: {
      submit(envelope, mime) {
        submissions.push({ envelope, mime });
        return Promise.resolve(says(envelope.to));
      },
    },
    ...more,
  }).submit(projectId, EMAIL);

test('sends the same content as text and HTML, with its link and escaped markup', async () => {
  await submitEmail();
  const mail = await PostalMime.parse(submissions[0]?.mime ?? '');
  expect(mail.subject).toBe(EMAIL.subject);
  expect(mail.text?.trim()).toBe(EMAIL.text);
  expect(mail.html).toContain('href="https://beckon.example/review?a=1&amp;b=2"');
  expect(mail.html).not.toContain('<script>');
});

test('puts the email into the test inbox of its project without a user if no relay is set', async () => {
  await submitEmail();
  const [submission] = submissions;
  if (!submission) throw new Error('nothing was handed over');
  const { envelope, mime } = submission;
  await receiveMail({ db, tokenKeys: TOKEN_KEYS }, { from: envelope.from, to: [envelope.to], raw: mime });
  const kept = await db.query(
    `SELECT project_id, subject, draft_id, external_user_id FROM beckon.test_inbox_email WHERE project_id = $1`,
    [projectId],
  );
  expect(kept).toEqual([
    { project_id: projectId, subject: EMAIL.subject, draft_id: null, external_user_id: null },
  ]);
});

test('sends each team address a separate email by relay, and none without a sender or addresses', async () => {
  await submitEmail({ outlet: RELAY, mailFrom: 'beckon@acme.example' });
  expect(submissions).toEqual([]);
  await setSettings(db, projectId, { team_addresses: 'ann@acme.example,bob@acme.example' });
  await submitEmail({ outlet: RELAY });
  expect(submissions).toEqual([]);
  await submitEmail({ outlet: RELAY, mailFrom: 'beckon@acme.example' });
  expect(submissions.map(({ envelope }) => [envelope.from, envelope.to])).toEqual([
    ['beckon@acme.example', 'ann@acme.example'],
    ['beckon@acme.example', 'bob@acme.example'],
  ]);
});

test('does not fail if one address is unreachable, but fails if all are', async () => {
  await setSettings(db, projectId, { team_addresses: 'ann@acme.example,bob@acme.example' });
  const mailFrom = 'beckon@acme.example';
  says = (to) =>
    to.startsWith('bob')
      ? { result: 'failed', reason: 'bounced', reply: '550 no' }
      : { result: 'sent', reply: '250 ok', relayId: null };
  await submitEmail({ outlet: RELAY, mailFrom });
  says = () => ({ result: 'deferred', reason: 'ECONNREFUSED' });
  await expect(submitEmail({ outlet: RELAY, mailFrom })).rejects.toThrow(
    'no member was notified: ECONNREFUSED',
  );
});

test('notifies members who can act on drafts, unless they turned it off, and each once', async () => {
  const at = new Date(0);
  const organizationId = `of ${projectId}`;
  await insertOrganization(db, { id: organizationId, name: 'Acme', createdAt: at });
  projectId = (await createProject(db, { name: 'Acme', organizationId })).id;
  for (const [name, role] of [
    ['ada', 'owner'],
    ['grace', 'reviewer'],
    ['edda', 'viewer'],
    ['mary', 'editor'],
  ] as const) {
    const userId = await upsertUser(db, { id: name, name, email: `${name}@x.org`, at });
    await upsertMember(db, { organizationId, userId, role, at });
  }
  await updateWantsDigest(db, { organizationId, userId: 'mary', wantsDigest: false });
  await updateWantsDigest(db, { organizationId, userId: 'edda', wantsDigest: true });
  await setSettings(db, projectId, { team_addresses: 'ops@x.org, Ada@x.org' });
  await submitEmail({ outlet: RELAY, mailFrom: 'beckon@x.org' });
  expect(submissions.map(({ envelope }) => envelope.to)).toEqual([
    'ops@x.org',
    'ada@x.org',
    'edda@x.org',
    'grace@x.org',
  ]);
});

import { afterAll, beforeEach, expect, test } from 'vitest';
import type { EmailWhole, TestInboxEmail, TestInboxEmailWhole, Role } from '@beckon/contract/dashboard';
import { emailsRule, newOutcomeScenario, sendTo } from '../../../../testing/factories/email-outcomes.ts';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { goodHtml, goodEmail } from '../../../../testing/factories/outgoing-email.ts';
import { TOKEN_KEYS } from '../../../../testing/factories/send-services.ts';
import { openStage } from '../../../../testing/scenario.ts';
import { PASSWORD, testTeam, tokenOf } from '../../../../testing/factories/team.ts';
import { idMaker } from '../../../platform/ids.ts';
import { emailToken } from '../../../platform/crypto/email-token.ts';
import { keepMail } from '../test-inbox/keep-mail.ts';
import { packMime } from '../../delivery/pack-mime.ts';
import { receiveMail } from '../test-inbox/test-inbox.ts';

const stage = await openStage();
const { db } = stage.server;
const newId = idMaker(db.clock);
/** Emails arrive in the test inbox, as without a relay. */
const arrive = {
  submit: async (envelope: { from: string; to: string }, raw: Uint8Array) => {
    await receiveMail({ db, tokenKeys: TOKEN_KEYS }, { ...envelope, to: [envelope.to], raw });
    return { result: 'sent', reply: '250 kept', relayId: null } as const;
  },
};
const { setUp, browser, join, tokenFor } = testTeam(stage.server, { openRelay: async () => arrive });
const { ada, projectId } = await setUp();
const plain = testDashboard(db);
afterAll(() => plain.close());
beforeEach(() => stage.engine.transport.setResult({ result: 'sent' }));

const TOKEN = /token=(?:3D)?[\da-z]{20,}/i;

test('shows no member a link of a team email in the test inbox', async () => {
  const viewer = await join(ada, { projectId, email: 'viewer@x.org', role: 'viewer' });
  const admin = await join(ada, { projectId, email: 'admin@x.org', role: 'admin' });
  await browser().request('POST /forgot', { email: 'ada@x.org' });
  const list = async (): Promise<TestInboxEmail[]> =>
    (await viewer.request(`GET /projects/${projectId}/test-inbox`)).json.data as TestInboxEmail[];
  await expect.poll(async () => (await list()).filter(({ to }) => to === 'ada@x.org').length).toBe(1);
  expect((await list()).map(({ to, kind }) => [to, kind])).toContainEqual(['viewer@x.org', 'team']);
  for (const client of [viewer, admin, ada])
    for (const { id } of await list()) {
      const at = `GET /projects/${projectId}/test-inbox/${id}`;
      const response = await client.request(at);
      expect(response.status).toBe(200);
      expect((response.json.data as TestInboxEmailWhole).text).toContain('token=redacted');
      for (const path of ['', '/email.html', '/email.html?images=show'])
        expect((await client.request(`${at}${path}`)).text).not.toMatch(TOKEN);
      for (const path of ['/source', '/eml']) expect((await client.request(`${at}${path}`)).status).toBe(403);
    }
});

test('hides from viewers the actions that an email allows its recipient', async () => {
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(emailsRule());
  await sendTo(scenario, ['bob']);
  const [message] = await scenario.messages('bob');
  const token = emailToken({ projectId: scenario.projectId, emailId: newId() }, 'unsubscribe', TOKEN_KEYS);
  const link = `https://acme.test/u/${token}`;
  const raw = await goodEmail({
    date: new Date(scenario.now()),
    html: goodHtml({ more: `<a href="${link}">no more</a>` }),
  });
  const mail = newId();
  const envelope = { mailFrom: `b+${token}@acme.test`, rcptTo: 'bob@x.org', at: scenario.now() };
  await keepMail(db, {
    projectId: scenario.projectId,
    id: mail,
    draftId: newId(),
    userId: 'bob',
    ...envelope,
    raw,
  });
  await db.query(
    `UPDATE beckon.email_mime SET mail_from = $3, mime = $4 WHERE project_id = $1 AND draft_id = $2`,
    [scenario.projectId, message?.draft_id, envelope.mailFrom, packMime(raw)],
  );
  const of = `GET /projects/${scenario.projectId}`;
  const paths = [
    `${of}/test-inbox`,
    `${of}/test-inbox/${mail}`,
    `${of}/test-inbox/${mail}/email.html`,
    `${of}/emails/${message?.id}`,
    `${of}/emails/${message?.id}/email.html`,
  ];
  const files = [
    `${of}/test-inbox/${mail}/source`,
    `${of}/test-inbox/${mail}/eml`,
    `${of}/emails/${message?.id}/eml`,
  ];
  for (const as of ['viewer', 'reviewer'] as Role[]) {
    for (const path of paths) {
      const { status, text } = await plain.request(path, { as });
      expect([path, status, text.includes(token)]).toEqual([path, 200, false]);
    }
    for (const file of files) expect((await plain.request(file, { as })).status).toBe(403);
  }
  for (const path of [...paths, ...files])
    expect([path, (await plain.request(path, { as: 'editor' })).text.includes(token)]).toEqual([path, true]);
  const whole = (await plain.request<EmailWhole>(paths[3] ?? '', { as: 'viewer' })).json.data;
  expect(whole.raw?.mail_from).toBe('b+redacted@acme.test');
  await expectRedactedForTokens({ projectId: scenario.projectId, paths, files, token });
});

type RedactionCase = { projectId: number; paths: string[]; files: string[]; token: string };

/** Expects that a token with the scope `read` reads as a viewer does, whatever its member's role. */
async function expectRedactedForTokens(input: RedactionCase): Promise<void> {
  await db.query(
    `UPDATE beckon.project SET organization_id = (SELECT organization_id FROM beckon.project WHERE project_id = $1)
     WHERE project_id = $2`,
    [projectId, input.projectId],
  );
  const program = browser({ authorization: `Bearer ${await tokenFor(ada, ['read', 'review', 'import'])}` });
  for (const path of input.paths) {
    const { status, text } = await program.request(path);
    expect([path, status, text.includes(input.token)]).toEqual([path, 200, false]);
  }
  for (const file of input.files) expect([file, (await program.request(file)).status]).toEqual([file, 403]);
  // A token with the scope of an editor shows what an editor sees.
  const editing = browser({ authorization: `Bearer ${await tokenFor(ada, ['read', 'edit'])}` });
  for (const path of [...input.paths, ...input.files])
    expect([path, (await editing.request(path)).text.includes(input.token)]).toEqual([path, true]);
}

test('invalidates the invitations of a removed member and of one who may no longer invite', async () => {
  const invite = async (by: typeof ada, email: string, role: Role): Promise<string> => {
    const { json } = await by.request(`POST /projects/${projectId}/invites`, { email, role });
    return tokenOf((json.data as { link: string }).link);
  };
  const accept = async (token: string): Promise<number> =>
    (await browser().request('POST /invites/accept', { token, name: 'Eve', password: PASSWORD })).status;
  const idOf = async (email: string): Promise<string> => {
    const { json } = await ada.request(`GET /projects/${projectId}/members`);
    return (json.data as { id: string; email: string }[]).find((member) => member.email === email)?.id ?? '';
  };
  const eve = await join(ada, { projectId, email: 'eve@x.org', role: 'owner' });
  const [asOwner, asAdmin] = [
    await invite(eve, 'eve2@x.org', 'owner'),
    await invite(eve, 'eve3@x.org', 'admin'),
  ];
  const role = (to: Role) =>
    idOf('eve@x.org').then((id) =>
      ada.request(`POST /projects/${projectId}/members/${id}/role`, { role: to }),
    );
  await role('admin');
  expect(await accept(asOwner)).toBe(404);
  expect(await accept(asAdmin)).toBe(200);
  const more = await invite(eve, 'eve4@x.org', 'viewer');
  await role('editor');
  expect(await accept(more)).toBe(404);
  await role('admin');
  const last = await invite(eve, 'eve5@x.org', 'viewer');
  await ada.request(`POST /projects/${projectId}/members/${await idOf('eve@x.org')}/remove`);
  expect(await accept(last)).toBe(404);
});

import { expect, test } from 'vitest';
import type { AuditListed, CreatedInvite, MemberListed, Role } from '@beckon/contract/dashboard';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { type Browser, codeOf, PASSWORD, testTeam, tokenOf } from '../../../../testing/factories/team.ts';
import { createProject } from '../../administration/create-project.ts';
import { insertOrganization, upsertMember } from './store.ts';

const server = await endpointServer();
const { setUp, browser, join, emails } = testTeam(server);
const { ada, projectId } = await setUp();
await insertOrganization(server.db, { id: 'theirs', name: 'Theirs', createdAt: new Date(0) });
const theirs = await createProject(server.db, { name: 'Theirs', organizationId: 'theirs' });

const at = (what: string): string => {
  const [method = '', path = ''] = what.split(' ');
  return `${method} /projects/${projectId}${path}`;
};
const joined = (email: string, role: Role, by = ada): Promise<Browser> =>
  join(by, { projectId, email, role });
const members = async (): Promise<MemberListed[]> =>
  (await ada.request(at('GET /members'))).json.data as MemberListed[];
const idOf = async (email: string): Promise<string> =>
  (await members()).find((member) => member.email === email)?.id ?? '';
const invite = async (by: Browser, email: string, role: Role) => {
  const response = await by.request(at('POST /invites'), { email, role });
  return { response: response, made: response.json.data as CreatedInvite };
};

const grace = await joined('grace@x.org', 'admin');
const edda = await joined('edda@x.org', 'editor');

test('sends and shows an invitation once, which works once and grants its role', async () => {
  const { made } = await invite(ada, ' Mary@X.org ', 'reviewer');
  expect(made).toMatchObject({ email: 'mary@x.org', role: 'reviewer', by: 'ada', emailed: true });
  expect(emails.at(-1)).toMatchObject({ to: 'mary@x.org' });
  const listed = (await ada.request(at('GET /invites'))).text;
  expect(listed).toContain('mary@x.org');
  expect(listed).not.toContain(tokenOf(made.link));
  const mary = browser();
  const body = { token: tokenOf(made.link), name: 'Mary', password: PASSWORD };
  expect((await mary.request(`GET /links?token=${body.token}`)).json.data).toMatchObject({
    kind: 'invite',
    organization: 'Acme',
    role: 'reviewer',
    has_account: false,
  });
  expect((await mary.request('POST /invites/accept', { ...body, password: 'short' })).status).toBe(422);
  expect((await mary.request('POST /invites/accept', { token: body.token })).status).toBe(422);
  expect((await mary.request('POST /invites/accept', body)).json.data).toEqual({
    organization: 'Acme',
    role: 'reviewer',
  });
  expect((await mary.request('GET /projects')).json.data).toEqual([
    expect.objectContaining({ role: 'reviewer' }),
  ]);
  expect((await browser().request('POST /invites/accept', body)).status).toBe(404);
  expect((await invite(ada, 'mary@x.org', 'admin')).response.status).toBe(409);
});

test('invalidates an older, revoked or expired invitation', async () => {
  const first = (await invite(ada, 'joan@x.org', 'viewer')).made;
  const second = (await invite(ada, 'joan@x.org', 'editor')).made;
  const accept = (link: string) =>
    browser().request('POST /invites/accept', { token: tokenOf(link), name: 'Joan', password: PASSWORD });
  expect((await accept(first.link)).status).toBe(404);
  expect((await ada.request(at(`POST /invites/${second.id}/revoke`))).status).toBe(200);
  expect((await accept(second.link)).status).toBe(404);
  expect((await ada.request(at(`POST /invites/${second.id}/revoke`))).status).toBe(404);
  const third = (await invite(ada, 'joan@x.org', 'viewer')).made;
  server.clock.advance(7 * 24 * 3_600_000 + 1);
  expect((await accept(third.link)).status).toBe(404);
  expect((await ada.request(at('GET /invites'))).json.data).toEqual([]);
});

test('lets a member with an account join only by signing in to it', async () => {
  await server.db.query(
    `INSERT INTO beckon.team_link (token_hash, id, kind, email, organization_id, role, created_by, created_at, expires_at)
     VALUES (encode(sha256('given'), 'hex'), 'x', 'invite', 'edda@x.org', 'theirs', 'admin', 'operator', now(), '2099-01-01')`,
  );
  const body = { token: 'given', name: 'Eve', password: PASSWORD };
  for (const client of [browser(), grace]) {
    const { status, text } = await client.request('POST /invites/accept', body);
    expect([status, text]).toEqual([409, expect.stringContaining('edda@x.org')]);
  }
  expect((await edda.request(`GET /projects/${theirs.id}/members`)).status).toBe(404);
  expect((await edda.request('POST /invites/accept', { token: 'given' })).status).toBe(200);
  expect((await edda.request(`GET /projects/${theirs.id}/members`)).status).toBe(200);
  // Actions in one organization are invisible to the other; changes of their own account appear in both.
  expect((await edda.request('POST /projects', { name: 'Their second' })).status).toBe(200);
  await edda.request('POST /profile', { name: 'edda' });
  for (const path of ['/audit?limit=200', '/audit.csv']) {
    const here = (await ada.request(at(`GET ${path}`))).text;
    expect([here.includes('Their'), here.includes('profile.rename')]).toEqual([false, true]);
    const there = (await edda.request(`GET /projects/${theirs.id}${path}`)).text;
    for (const what of ['Theirs', 'Their second', 'profile.rename', 'invite.accept'])
      expect([what, there.includes(what)]).toEqual([what, true]);
    expect(there).not.toContain('Acme');
  }
});

test('rejects an invalid address or role, an unknown member and another organization', async () => {
  const bad = await invite(ada, 'no address', 'viewer');
  expect([bad.response.status, bad.response.json.errors[0]?.field]).toEqual([422, 'email']);
  expect((await ada.request(at('POST /invites'), { email: 'a@x.org', role: 'king' })).status).toBe(422);
  expect((await ada.request(at('POST /members/unknown/role'), { role: 'viewer' })).status).toBe(404);
  expect((await ada.request(at('POST /members/unknown/remove'))).status).toBe(404);
  expect(
    (await ada.request(`POST /projects/${theirs.id}/invites`, { email: 'a@x.org', role: 'owner' })).status,
  ).toBe(404);
  const eddaThere = await idOf('edda@x.org');
  // A member of both organizations: a change here does not affect the other.
  await ada.request(at(`POST /members/${eddaThere}/role`), { role: 'viewer' });
  expect((await edda.request(`GET /projects/${theirs.id}/invites`)).status).toBe(200);
  await ada.request(at(`POST /members/${eddaThere}/role`), { role: 'editor' });
});

test('applies a new role to the next request, and lets an admin create or change no owner', async () => {
  const id = await idOf('edda@x.org');
  expect((await edda.request(at('GET /invites'))).status).toBe(403);
  expect((await grace.request(at(`POST /members/${id}/role`), { role: 'admin' })).status).toBe(200);
  expect((await edda.request(at('GET /invites'))).status).toBe(200);
  await grace.request(at(`POST /members/${id}/role`), { role: 'editor' });
  expect((await edda.request(at('GET /invites'))).status).toBe(403);
  expect((await grace.request(at(`POST /members/${id}/role`), { role: 'owner' })).status).toBe(403);
  expect((await invite(grace, 'new@x.org', 'owner')).response.status).toBe(403);
  const adas = await idOf('ada@x.org');
  expect((await grace.request(at(`POST /members/${adas}/role`), { role: 'viewer' })).status).toBe(403);
  expect((await grace.request(at(`POST /members/${adas}/remove`))).status).toBe(403);
});

test('keeps the last owner, whatever the caller and the number of concurrent requests', async () => {
  const adas = await idOf('ada@x.org');
  expect((await ada.request(at(`POST /members/${adas}/role`), { role: 'admin' })).status).toBe(409);
  expect((await ada.request(at(`POST /members/${adas}/remove`))).status).toBe(409);
  const second = await joined('second@x.org', 'owner');
  const other = await idOf('second@x.org');
  const responses = await Promise.all([
    ada.request(at(`POST /members/${other}/role`), { role: 'admin' }),
    second.request(at(`POST /members/${adas}/role`), { role: 'admin' }),
  ]);
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  const owners = (await members()).filter(({ role }) => role === 'owner');
  expect(owners).toHaveLength(1);
  if (owners[0]?.id !== adas) await second.request(at(`POST /members/${adas}/role`), { role: 'owner' });
});

test('signs a removed member out at once, refuses their sign-in, and readmits them by invitation', async () => {
  const gone = await joined('gone@x.org', 'editor');
  const id = await idOf('gone@x.org');
  expect((await grace.request(at(`POST /members/${id}/remove`))).status).toBe(200);
  expect((await gone.request('GET /projects')).status).toBe(401);
  const credentials = { email: 'gone@x.org', password: PASSWORD };
  expect((await browser().request('POST /sign-in', credentials)).status).toBe(422);
  // Their actions stay in the log of the organization in which they happened.
  const accepted = ['/audit?action=invite.accept', '/audit.csv?action=invite.accept'];
  for (const path of accepted) expect((await ada.request(at(`GET ${path}`))).text).toContain('gone@x.org');
  const back = await joined('gone@x.org', 'viewer');
  expect((await back.request('GET /projects')).json.data).toEqual([
    expect.objectContaining({ role: 'viewer' }),
  ]);
  // They stay in another organization, and so does their session.
  const eddas = await idOf('edda@x.org');
  await ada.request(at(`POST /members/${eddas}/remove`));
  expect((await edda.request(at('GET /members'))).status).toBe(404);
  expect((await edda.request(`GET /projects/${theirs.id}/members`)).status).toBe(200);
});

test('requires the organization of a new project if there are several, and accepts no other', async () => {
  const both = await joined('both@x.org', 'admin');
  const make = (more: object = {}) => both.request('POST /projects', { name: 'Meant', ...more });
  const organizationOf = async (response: Promise<{ json: { data: unknown } }>): Promise<unknown> => {
    const { id } = (await response).json.data as { id: number };
    return ((await both.request(`GET /projects/${id}/organization`)).json.data as { name: string }).name;
  };
  expect(await organizationOf(make())).toBe('Acme');
  const foreign = await make({ organization: 'theirs' });
  expect([foreign.status, foreign.json.errors[0]?.field]).toEqual([422, 'organization']);
  const userId = await idOf('both@x.org');
  await upsertMember(server.db, { organizationId: 'theirs', userId, role: 'admin', at: new Date(0) });
  const unsaid = await make();
  expect([unsaid.status, unsaid.json.errors[0]]).toMatchObject([
    422,
    { field: 'organization', message: expect.stringMatching(/Theirs.*Acme/) },
  ]);
  expect(await organizationOf(make({ organization: 'theirs' }))).toBe('Theirs');
});

test('closes an organization that requires an authenticator app to members without one', async () => {
  const policy = { requires_two_factor: true };
  expect((await grace.request(at('POST /organization'), policy)).status).toBe(403);
  const locked = await ada.request(at('POST /organization'), policy);
  expect([locked.status, locked.json.errors[0]?.field]).toEqual([409, 'requires_two_factor']);
  await addApp(ada);
  expect((await ada.request(at('POST /organization'), policy)).json.data).toMatchObject(policy);
  const refused = await grace.request(at('GET /members'));
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('authenticator app')]);
  expect((await grace.request('GET /projects')).json.data).toEqual([]);
  expect((await grace.request('GET /session')).json.data).toMatchObject({
    organizations: [{ must_set_up_two_factor: true }],
  });
  expect((await grace.request('POST /projects', { name: 'Aside' })).status).toBe(403);
  await addApp(grace);
  expect((await grace.request(at('GET /members'))).status).toBe(200);
  await ada.request(at('POST /organization'), { requires_two_factor: false, name: 'Acme Inc.' });
  expect((await ada.request(at('GET /organization'))).json.data).toMatchObject({
    name: 'Acme Inc.',
    requires_two_factor: false,
  });
});

async function addApp(client: Browser): Promise<void> {
  const { uri } = (await client.request('POST /two-factor/begin', { password: PASSWORD })).json.data as {
    uri: string;
  };
  await client.request('POST /two-factor/confirm', { code: codeOf(uri) });
}

test('sends a test email to the member who requests it, and lets each switch their own digest', async () => {
  expect((await grace.request(at('POST /test-email'))).json.data).toEqual({
    to: 'grace@x.org',
    test_inbox: true,
  });
  expect(emails.at(-1)?.to).toBe('grace@x.org');
  const { organizations } = (await grace.request('GET /session')).json.data as {
    organizations: { id: string }[];
  };
  const path = `POST /organizations/${organizations[0]?.id}/digest`;
  expect((await grace.request(path, { enabled: false })).status).toBe(200);
  expect((await grace.request('GET /session')).json.data).toMatchObject({
    organizations: [{ wants_digest: false }],
  });
  expect((await grace.request('POST /organizations/theirs/digest', { enabled: true })).status).toBe(404);
});

test('lists the audit log of this organization alone, with actor and diff, in pages without a gap', async () => {
  const list = async (query = '') => (await grace.request(at(`GET /audit${query}`))).json;
  const all = await list('?limit=200');
  const entries = all.data as AuditListed[];
  expect(entries.find(({ action }) => action === 'member.change_role')).toMatchObject({
    project: { id: projectId },
    before: { role: expect.any(String) },
    after: { role: expect.any(String) },
    completed: true,
  });
  expect(entries.filter(({ action }) => action === 'team.set_up')).toMatchObject([
    { actor_name: 'ada', project: null },
  ]);
  expect(JSON.stringify(entries)).not.toMatch(new RegExp(`${PASSWORD}|token(?!":null)`));
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await list(`?limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`);
    seen.push(...(page.data as AuditListed[]).map(({ id }) => id));
    cursor = page.meta.cursor;
  }
  expect(seen).toEqual(entries.map(({ id }) => id));
  expect(all.meta.pagination.total).toBe(seen.length);
  const roles = (await list('?action=member.')).data as AuditListed[];
  expect(roles.every(({ action }) => action.startsWith('member.'))).toBe(true);
  expect(
    ((await list('?scope=project')).data as AuditListed[]).every(({ project }) => project?.id === projectId),
  ).toBe(true);
  expect((await grace.request(at('GET /audit?cursor=zz'))).status).toBe(422);
  const csv = await grace.request(at('GET /audit.csv'));
  expect([csv.headers['content-disposition'], csv.text.trimEnd().split('\n').length]).toEqual([
    'attachment; filename="audit.csv"',
    // With its heading, and with the entry of this very export.
    seen.length + 2,
  ]);
  expect((await edda.request(`GET /projects/${theirs.id}/audit`)).text).not.toContain('team.set_up');
});

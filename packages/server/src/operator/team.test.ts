import { expect, test } from 'vitest';
import { DASHBOARD_ORIGIN } from '../../testkit/dashboard.ts';
import { endpointServer } from '../../testkit/endpoint-server.ts';
import { codeOf, PASSWORD, testTeam, tokenOf } from '../../testkit/team.ts';
import { typed } from '../../testkit/typed-command.ts';

const server = await endpointServer();
const { browser } = testTeam(server);
const run = (...args: string[]) => typed({ db: server.db }, args);
const link = async (...args: string[]): Promise<string> => {
  const { json, err } = await run('team', ...args, '--json');
  if (err !== '') throw new Error(err);
  return tokenOf((json as { url: string }).url);
};
const ada = browser();
let project = '';

test('as long as nobody owns the installation, setup-link leads in; afterwards it is refused', async () => {
  expect((await run('team', 'list')).err).toContain('no organization yet');
  const early = (await run('project', 'create', '--name', 'Acme', '--json')).json as { id: string };
  const shown = await run('team', 'setup-link');
  expect(shown.out).toMatch(new RegExp(`^${DASHBOARD_ORIGIN}/setup\\?token=\\w{43}\n\nIt works once`));
  const body = { email: 'ada@x.org', password: PASSWORD, project: 'Second' };
  expect((await ada.ask('POST /setup', { ...body, token: await link('setup-link') })).status).toBe(200);
  const projects = (await ada.ask('GET /projects')).json.data as { id: number; name: string }[];
  expect(projects.map(({ name }) => name)).toEqual(['Acme', 'Second']);
  project = early.id;
  const refused = await run('team', 'setup-link');
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('has an owner')]);
});

test('invite, list, role and remove do what they say, and admins read in the audit log that the operator did it', async () => {
  server.clock.advance(1);
  const token = await link('invite', '--email', 'Grace@x.org', '--role', 'editor');
  const grace = browser();
  await grace.ask('POST /invites/accept', { token, name: 'Grace', password: PASSWORD });
  const listed = (await run('team', 'list', '--json')).json;
  expect(listed).toMatchObject([
    { email: 'ada@x.org', role: 'owner' },
    { email: 'grace@x.org', name: 'Grace', role: 'editor', two_factor: false },
  ]);
  server.clock.advance(1);
  expect((await run('team', 'role', '--email', 'grace@x.org', '--role', 'admin')).out).toContain(
    'is admin now',
  );
  const log = (await grace.ask(`GET /projects/${project}/audit?actor=operator`)).json.data;
  expect(log).toMatchObject([
    {
      action: 'member.change_role',
      subject: 'grace@x.org',
      actor_name: 'Operator',
      after: { role: 'admin' },
    },
    { action: 'invite.send', subject: 'grace@x.org' },
  ]);
  expect((await run('team', 'remove', '--email', 'grace@x.org')).out).toContain('no member any more');
  expect((await grace.ask('GET /projects')).status).toBe(401);
  const last = await run('team', 'remove', '--email', 'ada@x.org');
  expect([last.code, last.err]).toEqual([1, expect.stringContaining('last owner')]);
  expect((await run('team', 'role', '--email', 'no@x.org', '--role', 'viewer')).err).toContain('no member');
  expect((await run('team', 'role', '--email', 'ada@x.org', '--role', 'king')).code).toBe(2);
});

test('who lost password and authenticator app comes back by a link of the operator, and by no other', async () => {
  await ada.ask('POST /sign-in', { email: 'ada@x.org', password: PASSWORD });
  const { uri } = (await ada.ask('POST /two-factor/begin', { password: PASSWORD })).json.data as {
    uri: string;
  };
  await ada.ask('POST /two-factor/confirm', { code: codeOf(uri) });
  const enter = async (): Promise<unknown> =>
    (await browser().ask('POST /sign-in', { email: 'ada@x.org', password: 'a new battery horse' })).json.data;
  const use = async (token: string): Promise<void> =>
    void (await browser().ask('POST /reset', { token, password: 'a new battery horse' }));
  await use(await link('reset-link', '--email', 'ada@x.org'));
  expect(await enter()).toEqual({ signed_in: false, two_factor: true });
  await use(await link('reset-link', '--email', 'ada@x.org', '--without-two-factor'));
  expect(await enter()).toEqual({ signed_in: true, two_factor: false });
  expect((await run('team', 'reset-link', '--email', 'no@x.org')).err).toContain('nobody who can sign in');
});

test('where no owner can sign in any more, the machine makes another one', async () => {
  const token = await link('setup-link', '--owner', 'edda@x.org');
  const edda = browser();
  await edda.ask('POST /invites/accept', { token, name: 'Edda', password: PASSWORD });
  expect((await edda.ask('GET /projects')).json.data).toMatchObject([{ role: 'owner' }, { role: 'owner' }]);
  await run('team', 'role', '--email', 'edda@x.org', '--role', 'viewer');
  await edda.ask('POST /reset', {
    token: await link('setup-link', '--owner', 'edda@x.org'),
    password: 'a new battery horse',
  });
  await edda.ask('POST /sign-in', { email: 'edda@x.org', password: 'a new battery horse' });
  expect((await edda.ask('GET /projects')).json.data).toMatchObject([{ role: 'owner' }, { role: 'owner' }]);
});

test('a project is made in the first organization, or in the one that is named', async () => {
  server.clock.advance(1);
  await run('team', 'add-organization', '--name', 'Theirs');
  const eve = browser();
  const token = await link('invite', '--email', 'eve@x.org', '--role', 'owner', '--org', 'Theirs');
  await eve.ask('POST /invites/accept', { token, name: 'Eve', password: PASSWORD });
  await run('project', 'create', '--name', 'Ours');
  await run('project', 'create', '--name', 'Far', '--org', 'Theirs');
  const names = async (one: typeof ada) =>
    ((await one.ask('GET /projects')).json.data as { name: string }[]).map(({ name }) => name);
  expect(await names(eve)).toEqual(['Far']);
  await ada.ask('POST /sign-in', { email: 'ada@x.org', password: 'a new battery horse' });
  expect(await names(ada)).toEqual(['Acme', 'Second', 'Ours']);
  // Each reads what was done about their own people, and nothing of the others.
  server.clock.advance(1);
  await link('reset-link', '--email', 'eve@x.org');
  const logOf = async (one: typeof ada): Promise<unknown[]> => {
    const [{ id } = { id: 0 }] = (await one.ask('GET /projects')).json.data as { id: number }[];
    const entries = (await one.ask(`GET /projects/${id}/audit?actor=operator&limit=200`)).json.data;
    return (entries as { action: string; subject: string }[]).filter(
      ({ subject }) => subject === 'eve@x.org',
    );
  };
  expect(await logOf(eve)).toMatchObject([{ action: 'password.reset_link' }, { action: 'invite.send' }]);
  expect(await logOf(ada)).toEqual([]);
  expect((await run('project', 'create', '--name', 'X', '--org', 'Nobody')).err).toContain(
    'is no organization',
  );
});

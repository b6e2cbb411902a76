import { beforeAll, describe, expect, test } from 'vitest';
import { testCases } from '../../testkit/cases.ts';
import { testShell } from '../../testkit/shell.ts';
import { testWorld } from '../../testkit/world.ts';

const world = await testWorld();
const local = testShell({ DATA_DIR: await world.localSocket() });

describe('members', () => {
  testCases(local, [
    { run: 'members list', shows: /ada@x\.org +\S+ +owner +no/, json: [{ email: 'ada@x.org' }] },
    { run: 'members invites', shows: /No open invitations/, json: [] },
    {
      run: 'members invite bob@x.org --role reviewer',
      shows: /Invited bob@x\.org by email\. The link works once, until .*\n\nhttp:\/\/localhost:\d+\/invite/,
    },
    { run: 'members invite eve@x.org --role viewer', json: { link: expect.stringContaining('http') } },
    { run: 'members invite bob --role viewer', fails: [2, /./] },
    { run: 'members invite bob@x.org', fails: [2, /--role/] },
    { run: 'members invites', shows: /bob@x\.org +reviewer/ },
    { run: 'members revoke-invite bob@x.org', shows: /Revoked the invitation of bob@x\.org/ },
    { run: 'members revoke-invite eve@x.org', json: { revoked: true } },
    { run: 'members revoke-invite bob@x.org', fails: [1, /bob@x\.org/] },
    { run: 'members set-role ada@x.org --role owner', shows: /ada@x\.org has the role owner/ },
    { run: 'members set-role bob@x.org --role viewer', fails: [1, /bob@x\.org/] },
    { run: 'members remove bob@x.org', fails: [2, /Remove bob@x\.org from the organization\? .*--yes/] },
    { run: 'members remove ada@x.org --yes', fails: [1, /./] },
  ]);

  test('set-role and remove change a member who joined', async () => {
    const email = 'mia@x.org';
    const { link } = (await local.json(['members', 'invite', email, '--role', 'viewer'])) as { link: string };
    const joined = await fetch(`${world.url}/api/dashboard/invites/accept`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: world.url },
      body: JSON.stringify({
        token: link.split(/[#=/]/).at(-1),
        name: 'Mia',
        password: 'correct horse battery',
      }),
    });
    expect(joined.status).toBe(200);
    expect(await local.json(['members', 'set-role', email, '--role', 'editor'])).toMatchObject({
      role: 'editor',
    });
    expect((await local.run(['members', 'remove', email, '--yes'])).out).toBe(`Removed ${email}.\n`);
    expect(await local.json(['members', 'list'])).toMatchObject([{ email: 'ada@x.org' }]);
  });
});

describe('organizations', () => {
  testCases(local, [
    { run: 'organizations list', shows: /owner +1 +1 +no/, json: [{ projects: 1 }] },
    { run: 'organizations create Second', shows: /Created organization Second .*--organization \S+/ },
    { run: 'organizations create Third', json: { name: 'Third' } },
    { run: "organizations create ''", fails: [2, /./] },
    { run: "organizations rename 'Acme Inc' --project Acme", shows: /now named Acme Inc/ },
    { run: 'organizations set --two-factor required', shows: /is required in Acme Inc/ },
    { run: 'organizations set --two-factor optional', shows: /is optional in Acme Inc/ },
    { run: 'organizations set', fails: [2, /--two-factor/] },
  ]);
});

describe('audit', () => {
  testCases(local, [
    {
      run: 'audit list',
      shows: /organization\.update +Acme Inc +[^]*"viewer"\} → \{"role":"editor"[^]*"viewer"\} → none/,
    },
    { run: 'audit list --action member.', json: [{ action: 'member.remove' }, {}, {}] },
    { run: 'audit list --action team.', json: [{ action: 'team.set_up' }] },
    { run: 'audit list --action team. --project-only', shows: /No matches/, json: [] },
    { run: 'audit list --actor team:unknown', json: [] },
    { run: 'audit export --action organization.', shows: /^at,[^]*organization\.update/ },
  ]);
});

describe('tokens', () => {
  const signedIn = testShell({ BECKON_URL: world.url });
  let [ownId, other] = ['', ''];
  beforeAll(async () => {
    signedIn.env['BECKON_TOKEN'] = await world.tokenFor(['read', 'edit']);
    await world.tokenFor(['review']);
  });
  testCases(local, [{ run: 'tokens list', fails: [3, /account/] }]);
  testCases(signedIn, [
    {
      run: 'tokens list',
      shows: /laptop +bkp_\S+ +review /,
      keep: (tokens: { id: string; scopes: string[] }[]) =>
        ([ownId, other] = ['read', 'review'].map(
          (scope) => tokens.find(({ scopes }) => scopes.includes(scope))?.id ?? '',
        ) as [string, string]),
    },
    { run: () => `tokens revoke ${other}`, fails: [2, /Revoke the token .*--yes/] },
    { run: () => `tokens revoke ${other}`, answers: [true], shows: /Revoked token laptop \(bkp_/ },
    { run: 'tokens revoke x --yes', fails: [1, /./] },
    { run: () => `tokens revoke ${ownId} --yes`, shows: /Revoked token laptop/ },
    { run: 'tokens list', fails: [3, /token/] },
  ]);
});

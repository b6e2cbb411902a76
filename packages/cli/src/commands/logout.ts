import type { Command } from 'commander';
import type { TokenState } from '@beckon/contract/dashboard';
import { createDashboard, type Dashboard } from '../api/dashboard.ts';
import { EXIT, Failure } from '../failure.ts';
import { profileFile } from '../profiles/file.ts';
import { action, type Running } from '../run.ts';
import type { Shell } from '../shell.ts';
import { describe } from './login.ts';

export function addLogout(program: Command, shell: Shell): void {
  program
    .command('logout')
    .description('revoke the token of the profile, and forget what the profile keeps')
    .action(action(shell, logout));
}

export function addWhoami(program: Command, shell: Shell): void {
  program
    .command('whoami')
    .description('whose token this is, what it may do, until when, and which projects it opens')
    .action(
      action(shell, async ({ dashboard, output }) => {
        const { data } = await (await dashboard()).call('GET /token', {});
        await output.one<TokenState>(data, describe);
      }),
    );
}

async function logout({ connection, shell, output, options, signal }: Running<object>): Promise<void> {
  const { profile, profileName, url } = await connection();
  if (profile === null)
    throw new Failure('not_found', 'There is nothing to forget: nobody is logged in here');
  const { token } = profile;
  // The token of the profile, and no other one that the environment may hold.
  const dashboard =
    token === undefined ? null : createDashboard({ url, token, version: shell.version, signal });
  const revoked = dashboard !== null && (await revoke(dashboard));
  const file = profileFile(shell);
  const { profiles } = await file.read();
  const { [profileName]: _forgotten, ...others } = profiles.profiles;
  const next = options.profile === undefined ? (Object.keys(others)[0] ?? 'default') : profiles.current;
  await file.write({ current: profileName === profiles.current ? next : profiles.current, profiles: others });
  await output.one({ profile: profileName, revoked }, () =>
    revoked ? 'The token is revoked and forgotten.' : 'The profile is forgotten.',
  );
}

/** One that does not hold any more is as good as revoked; where the server is away it has to be said. */
async function revoke(dashboard: Dashboard): Promise<boolean> {
  try {
    await dashboard.call('POST /token/revoke', {});
    return true;
  } catch (error) {
    if (error instanceof Failure && error.exit === EXIT.auth) return false;
    if (!(error instanceof Failure)) throw error;
    const message = `${error.message}\nNothing was forgotten: try again, or revoke the token in the dashboard (Profile, Tokens)`;
    throw new Failure(error.code, message, { requestId: error.requestId, cause: error });
  }
}

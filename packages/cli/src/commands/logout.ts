import type { Dashboard } from '../api/dashboard.ts';
import { EXIT, Failure } from '../failure.ts';
import { custom } from '../framework/declare.ts';
import { deleteProfile } from '../profiles/change.ts';

export const logout = custom('logout', {
  help: 'Revoke the token of the profile, and delete the profile',
  routes: ['POST /token/revoke'],
  async run({ connection, dashboardWith, shell, output, options }) {
    const { profile, profileName } = await connection();
    if (profile === null)
      throw new Failure('not_found', 'Not logged in. With several profiles, pass --profile <name>.');
    const { token } = profile;
    // The token of the profile, not one from the environment.
    const revoked = token !== undefined && (await revoke(await dashboardWith(token)));
    await deleteProfile(shell, { name: profileName, selectsNext: options.profile === undefined });
    await output.value({ profile: profileName, revoked }, () =>
      revoked ? 'Revoked the token and deleted the profile.' : 'Deleted the profile.',
    );
  },
});

/** An invalid token counts as revoked. An unreachable server is an error, because the token stays valid. */
async function revoke(dashboard: Dashboard): Promise<boolean> {
  try {
    await dashboard.call('POST /token/revoke', {});
    return true;
  } catch (error) {
    if (error instanceof Failure && error.exit === EXIT.auth) return false;
    if (!(error instanceof Failure)) throw error;
    const message = `${error.message}\nThe profile was kept. Try again, or revoke the token in the dashboard (Profile, Tokens).`;
    throw new Failure(error.code, message, { requestId: error.requestId, cause: error });
  }
}

import type { Shell } from '../shell.ts';
import { LOCAL, profileFile } from './file.ts';

/**
 * Deletes a profile. If it was the current one, `selectsNext` makes the first remaining profile of a server current, but
 * never the profile of the local socket: `--profile` does not accept its name.
 */
export async function deleteProfile(
  shell: Shell,
  { name, selectsNext }: { name: string; selectsNext: boolean },
): Promise<void> {
  const file = profileFile(shell);
  const { profiles } = await file.read();
  const { [name]: _deleted, ...others } = profiles.profiles;
  const next = Object.keys(others).find((other) => other !== LOCAL) ?? 'default';
  const current = selectsNext && name === profiles.current ? next : profiles.current;
  await file.write({ current, profiles: others });
}

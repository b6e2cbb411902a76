import { usage } from '../failure.ts';
import type { Output } from '../output/output.ts';
import type { Shell } from '../shell.ts';
import type { Connection } from './connection.ts';
import { LOCAL, type Profile, profileFile } from './file.ts';

type ProfileChange = {
  connection: Connection;
  values: Partial<Profile>;
  /** A login: it makes the profile current, and replaces one of another server. */
  isLogin?: boolean;
};

/**
 * Saves values in the profile of a connection. Only a login replaces a profile of another server, because its token and
 * API key are lost. The profile of the local socket is always that of the last socket.
 */
export async function saveProfile(
  { shell, output }: { shell: Shell; output: Output },
  { connection, values, isLogin = false }: ProfileChange,
): Promise<void> {
  const { kind, profile, profileName: name, url } = connection;
  const file = profileFile(shell);
  const { profiles } = await file.read();
  const replaced = profile === null ? profiles.profiles[name] : undefined;
  if (replaced && !isLogin && kind === 'remote')
    throw usage(`Profile ${name} is for ${replaced.url}. Pass --profile <name>, or set BECKON_PROJECT.`);
  await file.write({
    current: isLogin && name !== LOCAL ? name : profiles.current,
    profiles: { ...profiles.profiles, [name]: { ...profile, ...values, url } },
  });
  if (replaced) await output.note(`Profile ${name} was for ${replaced.url}. It is replaced.`);
  if (isLogin) await output.note(`Saved in ${file.path}, profile ${name}.`);
}

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

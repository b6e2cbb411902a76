import type { World } from '../journal.ts';
import { pick, type Random } from '../random.ts';

export type Key = { id: string; secret: string };

/** The API keys that clients use: valid ones, and those whose revocation was acknowledged. */
export type Keys = {
  one(project: string, random: Random): Key;
  revoked(random: Random): (Key & { project: string }) | null;
  add(project: string, key: Key): void;
  /** Stops using the key for new requests. A request under way may still use it. */
  retire(project: string, id: string): void;
  /** Marks the revocation as acknowledged. */
  revoke(project: string, id: string): void;
};

export function keysOf(world: World): Keys {
  const live = new Map(world.projects.map(({ id, keys }) => [id, [...keys]]));
  const retired = new Map<string, Key>();
  const gone: (Key & { project: string })[] = [];
  return {
    one: (project, random) => pick(live.get(project) ?? [], random),
    revoked: (random) => (gone.length === 0 ? null : pick(gone, random)),
    add: (project, key) => void live.get(project)?.push(key),
    retire(project, id) {
      const keys = live.get(project) ?? [];
      const key = keys.find((one) => one.id === id);
      if (!key) return;
      retired.set(id, key);
      live.set(
        project,
        keys.filter((one) => one !== key),
      );
    },
    revoke(project, id) {
      const key = retired.get(id);
      if (key) gone.push({ ...key, project });
    },
  };
}

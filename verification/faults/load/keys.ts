import type { World } from '../journal.ts';
import { pick, type Random } from '../random.ts';

export type Key = { id: string; secret: string };

/** The API keys that clients use: valid ones, and those whose revocation was acknowledged. */
export type Keys = {
  liveKey(project: string, random: Random): Key;
  revokedKey(random: Random): (Key & { project: string }) | null;
  add(project: string, key: Key): void;
  /** Stops using the key for new requests. A request under way may still use it. */
  retire(project: string, id: string): void;
  /** Marks the revocation as acknowledged. */
  revoke(project: string, id: string): void;
};

export function keysOf(world: World): Keys {
  const liveKeys = new Map(world.projects.map(({ id, keys }) => [id, [...keys]]));
  const retired = new Map<string, Key>();
  const revokedKeys: (Key & { project: string })[] = [];
  return {
    liveKey: (project, random) => pick(liveKeys.get(project) ?? [], random),
    revokedKey: (random) => (revokedKeys.length === 0 ? null : pick(revokedKeys, random)),
    add: (project, key) => void liveKeys.get(project)?.push(key),
    retire(project, id) {
      const keys = liveKeys.get(project) ?? [];
      const key = keys.find((candidate) => candidate.id === id);
      if (!key) return;
      retired.set(id, key);
      liveKeys.set(
        project,
        keys.filter((other) => other !== key),
      );
    },
    revoke(project, id) {
      const key = retired.get(id);
      if (key) revokedKeys.push({ ...key, project });
    },
  };
}

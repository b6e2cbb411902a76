import { type AudienceModel, loadModels } from '../../features/audiences/index.ts';
import { type CountedNames, findCounted, NOTHING_COUNTED } from '../../features/events/index.ts';
import type { Turn } from '../../features/turns/index.ts';
import type { Tx } from '../../io/db/index.ts';

/** What a project asks about its people: definitions compiled once, and read again only when they changed. */
export type Model = { version: number; audiences: AudienceModel; counted: CountedNames };

export type Models = {
  /** With these turns taken, so that nothing changes meanwhile. */
  of(tx: Tx, turns: Turn[]): Promise<Map<number, Model>>;
};

const MODELS_MAX = 10_000;

export function createModels(): Models {
  const known = new Map<number, Model>();
  return {
    async of(tx, turns) {
      const stale = turns.filter(({ projectId, model }) => known.get(projectId)?.version !== model);
      if (stale.length > 0) {
        if (known.size + stale.length > MODELS_MAX) known.clear();
        for (const [projectId, model] of await load(tx, stale)) known.set(projectId, model);
      }
      return new Map(turns.flatMap(({ projectId }) => entryOf(known, projectId)));
    },
  };
}

async function load(tx: Tx, turns: Turn[]): Promise<Map<number, Model>> {
  const ids = turns.map(({ projectId }) => projectId);
  const [audiences, counted] = await Promise.all([loadModels(tx, ids), findCounted(tx, ids)]);
  const models = new Map<number, Model>();
  for (const { projectId, model } of turns) {
    const asked = audiences.get(projectId);
    if (!asked) continue;
    models.set(projectId, {
      version: model,
      audiences: asked,
      counted: counted.get(projectId) ?? NOTHING_COUNTED,
    });
  }
  return models;
}

function entryOf(known: Map<number, Model>, projectId: number): [number, Model][] {
  const model = known.get(projectId);
  return model ? [[projectId, model]] : [];
}

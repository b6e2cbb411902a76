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

/** Of projects with a few audiences each, some hundred megabytes at the very most. */
const MODELS_MAX = 2_000;

export function createModels(): Models {
  const known = new Map<number, Model>();
  return {
    async of(tx, turns) {
      const wanted = new Map<number, Model>();
      const stale: Turn[] = [];
      for (const turn of turns) {
        const model = known.get(turn.projectId);
        if (model?.version === turn.model) wanted.set(turn.projectId, model);
        else stale.push(turn);
      }
      if (stale.length === 0) return wanted;
      const loaded = await load(tx, stale);
      if (known.size + loaded.size > MODELS_MAX) known.clear();
      for (const [projectId, model] of loaded) {
        known.set(projectId, model);
        wanted.set(projectId, model);
      }
      return wanted;
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

import type { Clock } from '../../platform/time/clock.ts';
import { type AudienceModel, loadModels } from '../audiences/index.ts';
import { type CountedNames, findCounted } from '../users/index.ts';
import { listSettings, type ProjectSettings } from '../workspace/index.ts';
import { loadRules } from './definitions/load-rules.ts';
import type { RuleModel } from './definitions/model.ts';
import { compile, type Program } from './runs/program.ts';
import { listVersionsInUse, type VersionInUse } from './runs/reads.ts';
import { listHashingProjects } from '../sending/index.ts';
import type { ProjectLock } from '../../platform/locks/project-lock.ts';
import { type TemplateText, loadEmails } from '../rendering/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** The compiled definitions and settings of a project, loaded again only when they change. */
export type Model = {
  version: number;
  audiences: AudienceModel;
  counted: CountedNames;
  rules: RuleModel;
  project: ProjectSettings;
  /** The project's own published templates, by name. */
  emails: ReadonlyMap<string, TemplateText>;
  programOf(ruleId: string, version: number): Program | undefined;
  /** Suppressions or refused topics of erased users are kept as hashes, so new addresses have to be compared with them. */
  hasHashes: boolean;
};

export type Models = {
  /** Returns the models. The caller holds these project locks, so that nothing changes in that time. */
  of(tx: Tx, locks: ProjectLock[]): Promise<Map<number, Model>>;
};

/** With a few audiences per project, this is a few hundred megabytes at most. */
const MODELS_MAX = 2_000;
const NO_EMAILS: Model['emails'] = new Map();

export function createModels(clock: Clock, modelsMax = MODELS_MAX): Models {
  /** The least recently used model is the first. */
  const cache = new Map<number, Model>();
  function remember(projectId: number, model: Model): void {
    cache.delete(projectId);
    cache.set(projectId, model);
    if (cache.size <= modelsMax) return;
    const [oldest] = cache.keys();
    if (oldest !== undefined) cache.delete(oldest);
  }
  return {
    async of(tx, locks) {
      const models = new Map<number, Model>();
      const stale: ProjectLock[] = [];
      for (const lock of locks) {
        const model = cache.get(lock.projectId);
        if (model?.version === lock.model) models.set(lock.projectId, model);
        else stale.push(lock);
      }
      for (const [projectId, model] of models) remember(projectId, model);
      if (stale.length === 0) return models;
      const loaded = await loadProjectModels(tx, stale, { now: clock.now() });
      for (const [projectId, model] of loaded) {
        remember(projectId, model);
        models.set(projectId, model);
      }
      return models;
    },
  };
}

/**
 * Loads the current models, with these additional versions of rules. Without the project lock the result may be outdated a moment later.
 */
export async function loadProjectModels(
  tx: Tx,
  locks: ProjectLock[],
  { now, versions = [] }: { now: number; versions?: VersionInUse[] },
): Promise<Map<number, Model>> {
  const ids = locks.map(({ projectId }) => projectId);
  const [audiences, counted, projects, inUse, emails, hashing] = await Promise.all([
    loadModels(tx, ids),
    findCounted(tx, ids),
    listSettings(tx, ids),
    listVersionsInUse(tx, ids, now),
    loadEmails(tx, ids),
    listHashingProjects(tx, ids),
  ]);
  const rules = await loadRules(tx, ids, [...inUse, ...versions]);
  const models = new Map<number, Model>();
  for (const { projectId, model: version } of locks) {
    const [audienceModel, ruleModel, project] = [
      audiences.get(projectId),
      rules.get(projectId),
      projects.get(projectId),
    ];
    if (!audienceModel || !ruleModel || !project) continue;
    models.set(projectId, {
      version,
      audiences: audienceModel,
      counted: counted.get(projectId) ?? NOTHING_COUNTED,
      rules: ruleModel,
      project,
      emails: emails.get(projectId) ?? NO_EMAILS,
      programOf: programsOf(ruleModel),
      hasHashes: hashing.has(projectId),
    });
  }
  return models;
}

/** Compiles each program on first use. */
function programsOf(rules: RuleModel): Model['programOf'] {
  const programs = new Map<string, Program>();
  return function programOf(ruleId, version) {
    const key = `${ruleId} ${version}`;
    const existing = programs.get(key);
    const definition = rules.version(ruleId, version)?.definition;
    if (existing || !definition) return existing;
    const program = compile(definition.steps);
    programs.set(key, program);
    return program;
  };
}

const NOTHING_COUNTED: CountedNames = new Map();

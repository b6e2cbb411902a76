export { createProject, type NewProject } from './create-project.ts';
export { findPair, listSandboxes, type Pair, setClosed, setSandbox } from './sandbox.ts';
export { replaceSettings } from './store.ts';
export { findProject } from './find-project.ts';
export { getSettings } from './get-settings.ts';
export { listDemos, listProjects } from './list-projects.ts';
export { type Project } from './project.ts';
export { listRateLimits, readEndpoint, setRateLimit } from './rate-limits.ts';
export { readChanges, setSettings } from './set-settings.ts';
export { countProjectsOf, nextProjectId } from './store.ts';
export {
  describeSettings,
  readSettings,
  type SettingName,
  type Settings,
  settingsOfSandbox,
} from './settings.ts';
export { resumeProject, suspendProject } from './suspend-project.ts';
export { listSettings, type ProjectSettings } from './list-settings.ts';
export { hasTeammates } from './teammates.ts';
export { adoptProjects } from './store.ts';

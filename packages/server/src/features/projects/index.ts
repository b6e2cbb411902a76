export { createProject } from './create-project.ts';
export { findProject } from './find-project.ts';
export { getSettings } from './get-settings.ts';
export { listProjects } from './list-projects.ts';
export { type Project } from './project.ts';
export { listRateLimits, readEndpoint, setRateLimit } from './rate-limits.ts';
export { setSettings } from './set-settings.ts';
export { type SettingName } from './settings.ts';
export { resumeProject, suspendProject } from './suspend-project.ts';

export { createProject } from './create-project.ts';
export { setSettings } from './set-settings.ts';
export { nextProjectId } from './project-store.ts';

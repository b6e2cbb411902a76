export { eraseViews } from './erase-views.ts';
export { listViews } from './reads.ts';
export { deleteView, saveView, SCREENS, type View } from './view.ts';

export { eraseViews } from './erase-views.ts';
export { listViews } from './reads.ts';
export { deleteView, saveView } from './view.ts';
export { type View } from './store.ts';
export { SCREENS } from './store.ts';

export { type AppFile, type AppState, readAppFiles } from './files.ts';
export { mountApp } from './mount-app.ts';

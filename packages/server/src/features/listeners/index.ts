export { openListener, resealListeners } from './listener.ts';

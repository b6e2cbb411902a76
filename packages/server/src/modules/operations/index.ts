export { DEMO_DAYS, DEMO_NAME, makeDemo, removeDemos } from './demo/demo.ts';
export { type ReencryptDeps, secretKinds } from './re-encrypt-secrets.ts';
export { acceptUnchanged, closeGate, confirmRestore } from './restore/confirm-restore.ts';
export { supportBundle } from './system.ts';

export { DEMO_DAYS, DEMO_NAME, makeDemo } from './demo/make-demo.ts';
export { removeDemos } from './demo/remove-demo.ts';
export { type ReencryptDeps, secretKinds } from './re-encrypt-secrets.ts';
export { acceptUnchanged, closeGate, confirmRestore } from './restore/confirm-restore.ts';
export { supportBundle } from './support-bundle.ts';

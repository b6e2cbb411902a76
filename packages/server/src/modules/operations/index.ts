export { DEMO_DAYS, DEMO_NAME, makeDemo, removeDemos } from './demo/demo.ts';
export { type ReencryptDeps, secretKinds, secretReencrypter } from './re-encrypt-secrets.ts';
export { acceptUnchanged, closeGate, confirmRestore } from './restore/confirm-restore.ts';
export { historyDeleter } from './retention/forget-history.ts';
export { supportBundle } from './system.ts';

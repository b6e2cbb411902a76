export { createToken, type TokenWanted } from './create-token.ts';
export {
  beginDevice,
  decideAboutDevice,
  type Decision,
  DEVICE_INTERVAL_S,
  type DeviceDeps,
  fetchDevice,
  lookAtDevice,
  readUserCode,
  unknownCode,
} from './device.ts';
export { type DeviceAsking } from './store.ts';
export { findHolder, type HolderDeps } from './find-holder.ts';
export { listTokens, revokeToken } from './own-tokens.ts';
export { revokeTokensOf } from './store.ts';
export { displayToken, type HeldToken, type ListedToken } from './token.ts';

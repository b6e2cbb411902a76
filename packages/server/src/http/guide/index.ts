export { type GuideState, mountGuide, readGuide } from './mount-guide.ts';

export { type ChoicesDeps, mountChoices } from './mount-choices.ts';

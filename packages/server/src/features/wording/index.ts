export { type Answer, type Block, readAnswer } from './answer.ts';
export { evidenceOf } from './evidence.ts';
export { guard } from './guard.ts';
export {
  type AllowedLink,
  hashQuestion,
  type Letter,
  ownWords,
  type Question,
  questionFor,
  repairOf,
} from './question.ts';
export { claimWording, eraseWording, findWording, settleWording, wantWording, wordLater } from './store.ts';
export { tellFacts } from './told-facts.ts';
export { againAt, type Claim, isWornOut, lookAgainAt, type Verdict, type Wording } from './wording.ts';

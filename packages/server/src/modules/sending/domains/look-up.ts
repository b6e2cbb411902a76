import type { Answer, Resolver } from '../../../platform/dns/resolver.ts';
import { type Looked, questionsOf, type QuestionType, ROUNDS_MAX } from './check-records.ts';
import type { DomainRecord } from './findings.ts';

type Asked = Pick<Resolver, 'txt' | 'mx' | 'cname'>;

/**
 * Looks up everything in DNS that the records are judged by. Never call it within a transaction, because a silent name server takes long.
 */
export async function lookUp(resolver: Asked, records: DomainRecord[]): Promise<Looked> {
  const answers = new Map<string, Answer>();
  const looked: Looked = (type, name) => answers.get(keyOf(type, name));
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const questions = questionsOf(records, looked);
    if (questions.length === 0) break;
    await Promise.all(
      questions.map(async ({ type, name }) => {
        answers.set(keyOf(type, name), await ask(resolver, type, name));
      }),
    );
  }
  return looked;
}

function keyOf(type: QuestionType, name: string): string {
  return `${type} ${name}`;
}

function ask(resolver: Asked, type: QuestionType, name: string): Promise<Answer> {
  switch (type) {
    case 'TXT':
      return resolver.txt(name);
    case 'MX':
      return resolver.mx(name);
    case 'CNAME':
      return resolver.cname(name);
    default:
      return type satisfies never;
  }
}

import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Other files to run while the demo is made. */
const BESIDE_THE_DEMO = 4;

/**
 * Sorts the files so that no worker waits for another. The demo takes longest to make, so one file begins with it, and the others that
 * use it follow later. Long files run first, so that none of them ends alone.
 */
export class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const usesDemo = ({ moduleId }: TestSpecification): boolean =>
      readFileSync(moduleId, 'utf8').includes("'../kit/demo.ts'");
    const others = sorted.filter((file) => !usesDemo(file));
    const withDemo = sorted.filter(usesDemo);
    const maker = withDemo.splice(-1);
    return [...maker, ...others.slice(0, BESIDE_THE_DEMO), ...withDemo, ...others.slice(BESIDE_THE_DEMO)];
  }
}

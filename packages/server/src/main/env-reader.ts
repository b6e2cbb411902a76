export type Env = Record<string, string | undefined>;
export type ReadText = (path: string) => string;
export type Fault = { variable: string; message: string };
/** The value, or a description of the allowed values. */
export type Parsed<T> = { value: T } | { allowed: string };

const PORT_MAX = 65_535;

/** Collects faults instead of throwing, so that all of them are reported at once. Null: not set, or invalid and noted. */
export function createReader(env: Env, readText: ReadText) {
  const faults: Fault[] = [];
  const fault = (variable: string, message: string): null => {
    faults.push({ variable, message });
    return null;
  };
  // A variable that a compose file passes as `NAME=` is not set.
  const text = (name: string): string | null => env[name]?.trim() || null;

  const parsed = <T>(name: string, parse: (text: string) => Parsed<T>): T | null =>
    checked(name, text(name), parse);
  function checked<T>(name: string, given: string | null, parse: (text: string) => Parsed<T>): T | null {
    if (given === null) return null;
    const result = parse(given);
    return 'value' in result ? result.value : fault(name, `must be ${result.allowed}`);
  }

  return {
    faults,
    fault,
    text,
    parsed,
    isSet: (name: string) => text(name) !== null,
    /** Directly or by a file. */
    isSecretSet: (name: string) => text(name) !== null || text(`${name}_FILE`) !== null,
    port: (name: string) => parsed(name, readPort),
    count: (name: string, max: number) => parsed<number>(name, (given) => readCount(given, max)),
    oneOf: <T extends string>(name: string, values: readonly T[]) =>
      parsed<T>(name, (given) => {
        const value = values.find((one) => one === given);
        const allowed = values.length === 1 ? `${values[0]} or not set` : `one of ${values.join(', ')}`;
        return value === undefined ? { allowed: `${allowed}, not ${JSON.stringify(given)}` } : { value };
      }),
    list: (name: string, allowed: string, isAllowed: (entry: string) => boolean) =>
      parsed<string[]>(name, (given) => {
        const entries = given.split(',').map((entry) => entry.trim());
        const wrong = entries.find((entry) => !isAllowed(entry));
        return wrong === undefined
          ? { value: entries }
          : { allowed: `${allowed}, separated by commas, not ${JSON.stringify(wrong)}` };
      }),
    secret,
    parsedSecret: <T>(name: string, parse: (text: string) => Parsed<T>) =>
      checked(text(`${name}_FILE`) === null ? name : `${name}_FILE`, secret(name), parse),
  };

  /** Reads the variable itself or the file that `<name>_FILE` names; its value is in no message. */
  function secret(name: string): string | null {
    const [value, file] = [text(name), text(`${name}_FILE`)];
    if (value !== null && file !== null) return fault(name, `must not be set together with ${name}_FILE`);
    if (file === null) return value;
    const read = readSecretFile(readText, file);
    return 'value' in read ? read.value : fault(`${name}_FILE`, read.wrong);
  }
}

/** Returns the content of the file, or what is wrong with it. */
function readSecretFile(readText: ReadText, file: string): { value: string } | { wrong: string } {
  try {
    const value = readText(file).trim();
    return value === '' ? { wrong: `names an empty file: ${file}` } : { value };
  } catch (error) {
    return { wrong: `must name a readable file (${error instanceof Error ? error.message : String(error)})` };
  }
}

function readPort(given: string): Parsed<number> {
  return /^\d{1,5}$/.test(given) && Number(given) <= PORT_MAX
    ? { value: Number(given) }
    : { allowed: `a port from 0 (any that is free) to ${PORT_MAX}, not ${JSON.stringify(given)}` };
}

function readCount(given: string, max: number): Parsed<number> {
  return /^[1-9]\d{0,5}$/.test(given) && Number(given) <= max
    ? { value: Number(given) }
    : { allowed: `a whole number from 1 to ${max}, not ${JSON.stringify(given)}` };
}

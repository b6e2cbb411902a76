import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react';
import { Lines } from './page.tsx';
import { useFocusBack } from './use-focus-back.ts';

/**
 * A component that is loaded when it is shown first: dialogs, forms, tabs that are not the first. A screen has 250 kB with all
 * that it needs at once. `later(() => import('./edit-form.tsx'), 'EditForm')`.
 */
export function later<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
  waiting: ReactNode = <Lines />,
): Module[Name] {
  const Loaded = lazy(async () => ({ default: (await load())[name] as ComponentType<object> }));
  function Later(props: object): ReactNode {
    useFocusBack(true);
    return (
      <Suspense fallback={waiting}>
        <Loaded {...props} />
      </Suspense>
    );
  }
  // It takes what the component takes, and hands all of it on.
  return Later as Module[Name];
}

/** Is loaded when it is opened first, and stays, so that it can close as it opened. */
export function WhenOpened({ opened, children }: { opened: boolean; children: ReactNode }): ReactNode {
  const [was, setWas] = useState(opened);
  if (opened && !was) setWas(true);
  useFocusBack(opened);
  return was && children;
}

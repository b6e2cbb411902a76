/** Returns a function that lets its callers through one per turn of the event loop, in their order. */
export function onePerTurn(): () => Promise<void> {
  let last = Promise.resolve();
  return () =>
    (last = last.then(
      () =>
        new Promise((resolve) => {
          setImmediate(resolve);
        }),
    ));
}

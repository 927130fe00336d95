// @ts-check
// Pages before the lesson: go where the class says this tablet belongs.
const news = new EventSource("/class/live");
news.onmessage = (event) => {
  const { page } = JSON.parse(event.data);
  if (page !== location.pathname) location.assign(page);
};

const report = JSON.parse(document.getElementById("report-data").textContent);
document.getElementById("content").textContent = `${report.title}: ${report.runs.length} runs`;
